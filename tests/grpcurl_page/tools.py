"""grpcurl and jq, built from what requirements/grpcurl pins by hash, in a folder that runs of the tests share."""

import fcntl
import hashlib
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
PINS = ROOT / "requirements" / "grpcurl"
_FOLDER = ROOT / ".proviso" / "test-tools"
_PROGRAMS = {"grpcurl": "github.com/fullstorydev/grpcurl/cmd/grpcurl", "jq": "github.com/itchyny/gojq/cmd/gojq"}
_BUILD_LIMIT_S = 280


def tools() -> Path:
    """The folder of the programs, built by the first who asks for it; a first build takes about a minute."""
    folder = _FOLDER / f"grpcurl-{_digest()[:12]}"
    _FOLDER.mkdir(parents=True, exist_ok=True)
    with (_FOLDER / "grpcurl.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            building = _FOLDER / "grpcurl-building"
            shutil.rmtree(building, ignore_errors=True)
            for name, package in _PROGRAMS.items():
                _go("build", "-mod=readonly", "-o", str(building / name), package)
            building.rename(folder)
    return folder


def _digest() -> str:
    pins = b"".join((PINS / name).read_bytes() for name in ("go.mod", "go.sum"))
    return hashlib.sha256(pins + _go("version").encode()).hexdigest()


def _go(*arguments: str) -> str:
    command = ("go", *arguments)
    done = subprocess.run(command, cwd=PINS, capture_output=True, text=True, timeout=_BUILD_LIMIT_S, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout
