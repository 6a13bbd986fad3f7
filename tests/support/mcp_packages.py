"""Servers of tools that others have published, installed once, pinned by hash, in a folder that runs of the tests
share."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_PINNED = _ROOT / "requirements" / "mcp-servers"
_FOLDER = _ROOT / ".proviso" / "test-servers"
_TIME_LIMIT_S = 110


def time_server() -> Path:
    """The program of mcp-server-time, of PyPI, in an environment of its own."""
    return _installed("pypi", ("requirements.txt",), _install_from_pypi) / "venv" / "bin" / "mcp-server-time"


def everything_server() -> Path:
    """The script of @modelcontextprotocol/server-everything, of npm, for node."""
    modules = _installed("npm", ("package.json", "package-lock.json"), _install_from_npm) / "node_modules"
    return modules / "@modelcontextprotocol" / "server-everything" / "dist" / "index.js"


def _installed(kind: str, pins: tuple[str, ...], install: Callable[[Path], None]) -> Path:
    """The folder of what these pins name, made by the first who asks for it."""
    digest = hashlib.sha256(b"".join((_PINNED / pin).read_bytes() for pin in pins) + sys.version.encode()).hexdigest()
    folder = _FOLDER / f"{kind}-{digest[:12]}"
    _FOLDER.mkdir(parents=True, exist_ok=True)
    with (_FOLDER / f"{kind}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            for pin in pins:
                shutil.copy(_PINNED / pin, folder)
            install(folder)
            (folder / "complete").touch()
    return folder


def _install_from_pypi(folder: Path) -> None:
    _run([sys.executable, "-m", "venv", "venv"], folder)
    pip = ["venv/bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check", "--require-hashes"]
    _run([*pip, "-r", "requirements.txt"], folder)


def _install_from_npm(folder: Path) -> None:
    _run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], folder)


def _run(command: list[str], folder: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(command, cwd=folder, env=environment, check=True, timeout=_TIME_LIMIT_S, stdout=subprocess.DEVNULL)
