"""What the URL of the state names: a SQLite file, or a database of PostgreSQL."""

import ssl
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from proviso_service.backends.sql.integrity import UnusableState

# The driver is the service's own choice: it reads URLs that name another one, for other programs may share them.
_POSTGRES = ("postgresql", "postgresql+asyncpg", "postgresql+psycopg")
_FORMS = "use sqlite:///path/to/file or postgresql://user:password@host/database"
_LOOPBACK = (None, "localhost", "127.0.0.1", "::1")
_QUERY = {"sslmode", "sslrootcert"}
_MODES = ("disable", "require", "verify-full")


@dataclass(frozen=True, slots=True)
class PostgresUrl:
    """The URL of a state in PostgreSQL."""

    url: URL

    @property
    def place(self) -> str:
        """Where the state lies, for people: without the password."""
        return f"{self.url.host or 'localhost'}:{self.url.port or 5432}/{self.url.database}"

    @property
    def for_driver(self) -> URL:
        return self.url.set(drivername="postgresql+asyncpg", query={})

    def tls(self) -> ssl.SSLContext | str | bool:
        """How the connection is encrypted, as asyncpg takes it: with the server's certificate checked, unless
        `sslmode` says otherwise or the server is on this machine."""
        mode = self.url.query.get("sslmode") or ("disable" if self.url.host in _LOOPBACK else "verify-full")
        if mode == "verify-full":
            return ssl.create_default_context(cafile=str(self.url.query.get("sslrootcert") or "") or None)
        return mode == "require" and "require"


def postgres_url(url: str) -> PostgresUrl | None:
    """The URL of a state in PostgreSQL; None for one in SQLite. Raises UnusableState for what is neither, and for a
    database that is not named whole."""
    parsed = _parsed(url)
    if parsed.drivername not in _POSTGRES:
        return None
    if not parsed.database or not parsed.username:
        raise UnusableState("state_url must name a role and a database: postgresql://user:password@host/database")
    if set(parsed.query) - _QUERY or parsed.query.get("sslmode", _MODES[0]) not in _MODES:
        raise UnusableState(f"state_url may say sslmode ({', '.join(_MODES)}) and sslrootcert only")
    return PostgresUrl(parsed)


def state_file(url: str) -> Path:
    """The file that a URL of the state names. Raises UnusableState for a URL that names none."""
    if server := postgres_url(url):
        raise UnusableState(f"The state lies in PostgreSQL at {server.place}: use pg_dump and pg_restore for it")
    database = _parsed(url).database
    if not database or database == ":memory:":
        raise UnusableState("state_url must name a file: the state has to survive the process")
    return Path(database)


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise UnusableState(f"state_url is not a URL: {_FORMS}") from None
    if parsed.drivername not in ("sqlite", *_POSTGRES):
        raise UnusableState(f"state_url {parsed.render_as_string()!r} is not supported: {_FORMS}")
    return parsed
