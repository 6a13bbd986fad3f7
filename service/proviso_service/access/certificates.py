"""Client certificates: whom the names in them stand for."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import structlog
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from proviso_service.access.credentials import Credentials
from proviso_service.errors import Unauthenticated
from proviso_service.identity import Caller, Role

_log = structlog.get_logger(__name__)


class UnreadablePeers(Exception):
    """The file of peers cannot be used; the message is for the operator."""


MatterName = Annotated[str, StringConstraints(to_lower=True)]


class Peer(BaseModel):
    """Whom a client certificate stands for. `matters` are the only ones that it opens, where they are given."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tenant: Annotated[str, Field(min_length=1, max_length=128)]
    user: Annotated[str, Field(min_length=1, max_length=128)]
    roles: frozenset[Role] = frozenset()
    matters: frozenset[MatterName] | None = None


_PEERS = TypeAdapter(dict[str, Peer])


class Certificates:
    """Recognises the callers of client certificates by a TOML file with one table for each name: a DNS name or a
    SPIFFE id. The file is read again when it has changed; a damaged one leaves nobody known, so that a certificate
    that was struck out opens nothing."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._stamp: tuple[int, int, int] | None = None
        self._peers: Mapping[str, Peer] = {}

    def open(self) -> None:
        """Reads the file. Raises UnreadablePeers."""
        self._stamp = _stamp(self._file)
        self._peers = _read(self._file)

    async def authenticate(self, credentials: Credentials) -> Caller | None:
        if credentials.token or not credentials.peer_names:
            return None
        try:
            # One look at the file's times takes microseconds, and the file is tiny.
            if _stamp(self._file) != self._stamp:
                self.open()
        except UnreadablePeers as error:
            if self._peers:
                _log.error("peers_not_read", error=str(error), consequence="no client certificate is accepted")
            # The stamp is forgotten too: the same file may come back.
            self._stamp, self._peers = None, {}
        for name in credentials.peer_names:
            if peer := self._peers.get(name):
                return Caller(peer.tenant, peer.user, peer.roles, peer.matters, name)
        raise Unauthenticated("The client certificate stands for nobody that the service knows")


def _stamp(file: Path) -> tuple[int, int, int]:
    try:
        found = file.stat()
    except OSError as error:
        raise UnreadablePeers(f"The file of peers {file} cannot be read: {error.strerror}") from error
    return found.st_mtime_ns, found.st_ino, found.st_size


def _read(file: Path) -> Mapping[str, Peer]:
    try:
        return _PEERS.validate_python(tomllib.loads(file.read_text("utf-8")))
    except (OSError, ValueError) as error:
        if isinstance(error, ValidationError):
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise UnreadablePeers(f"The file of peers {file} is wrong at {where}: {first['msg']}") from error
        raise UnreadablePeers(f"The file of peers {file} cannot be read: {error}") from error
