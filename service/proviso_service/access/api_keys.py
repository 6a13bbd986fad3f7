"""API keys: how they are made, stored and recognised.

A key is `pvk_`, the 16 hexadecimal digits of its id, `_`, and 256 random bits in base64url. The store has its HMAC
with a secret of the service, so that a copy of the database opens nothing."""

import base64
import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from proviso_service.access.credentials import Credentials
from proviso_service.errors import TooBusy, Unauthenticated, Unavailable
from proviso_service.identity import Caller, Role

_FORM = re.compile(r"pvk_([0-9a-f]{16})_[A-Za-z0-9_-]{43}")
_SECRET_BYTES = 32
_NOTE_USE_EVERY_S = 60.0
_MAX_NOTED = 10_000
_REFUSED = "The API key is not valid: it is unknown, revoked or expired"


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A stored key. `name` says what it is for, and is the user where a call names none; `digest` is the HMAC-SHA256
    of the whole key. Times are None where a key never expires, was not revoked, or was not used."""

    key_id: str
    tenant: str
    name: str
    roles: frozenset[Role]
    digest: bytes
    create_time: datetime
    expire_time: datetime | None = None
    revoke_time: datetime | None = None
    last_use_time: datetime | None = None
    matters: frozenset[str] | None = None

    @property
    def prefix(self) -> str:
        """The part of the key that may be shown."""
        return f"pvk_{self.key_id}"

    def is_valid(self, now: datetime) -> bool:
        """Whether the key opens anything at that time."""
        return (self.revoke_time is None or self.revoke_time > now) and (
            self.expire_time is None or self.expire_time > now
        )


class ApiKeyStore(Protocol):
    """Finds keys, and notes their use."""

    async def find(self, key_id: str) -> ApiKey | None: ...

    async def note_use(self, key_id: str) -> None: ...


class ApiKeys:
    """Recognises the callers of keys. Every call looks its key up, so that a revoked one opens nothing more."""

    def __init__(self, store: ApiKeyStore, secret: bytes, now: Callable[[], datetime]) -> None:
        self._store = store
        self._secret = secret
        self._now = now
        self._noted: dict[str, float] = {}

    async def authenticate(self, credentials: Credentials) -> Caller | None:
        matched = _FORM.fullmatch(credentials.token)
        if matched is None:
            return None
        key = await self._store.find(matched[1])
        # The digest of an unknown key is computed too: both cases take the same time.
        is_right = hmac.compare_digest(digest_of(self._secret, credentials.token), key.digest if key else b"")
        if key is None or not is_right or not key.is_valid(self._now()):
            raise Unauthenticated(_REFUSED)
        await self._note_use(key.key_id)
        return Caller(key.tenant, key.name, key.roles, key.matters, key.prefix)

    async def _note_use(self, key_id: str) -> None:
        now = time.monotonic()
        if now - self._noted.get(key_id, -_NOTE_USE_EVERY_S) < _NOTE_USE_EVERY_S:
            return
        if len(self._noted) >= _MAX_NOTED:
            self._noted.clear()
        self._noted[key_id] = now
        try:
            await self._store.note_use(key_id)
        except (TooBusy, Unavailable):
            # A full disk must not keep anybody out.
            del self._noted[key_id]


def digest_of(secret: bytes, key: str) -> bytes:
    """What is stored of a key."""
    return hmac.digest(secret, key.encode(), hashlib.sha256)


def new_key() -> tuple[str, str]:
    """A new key's id, and the key itself."""
    key_id = secrets.token_hex(8)
    return key_id, f"pvk_{key_id}_{secrets.token_urlsafe(_SECRET_BYTES)}"


def secret_in(folder: Path) -> bytes:
    """The secret of a data folder, which is made on first use; only the owner of the file can read it. Raises OSError,
    and ValueError for a damaged one."""
    path = folder / "api-keys.secret"
    try:
        return _read_secret(path)
    except FileNotFoundError:
        folder.mkdir(parents=True, exist_ok=True)
    made = folder / f".{path.name}.{secrets.token_hex(4)}"
    made.touch(mode=0o600)
    made.write_bytes(base64.b64encode(secrets.token_bytes(_SECRET_BYTES)))
    try:
        # Of two processes that make one at the same time both use that of the first.
        path.hardlink_to(made)
    except FileExistsError:
        pass
    finally:
        made.unlink()
    return _read_secret(path)


def _read_secret(path: Path) -> bytes:
    secret = base64.b64decode(path.read_bytes(), validate=True)
    if len(secret) != _SECRET_BYTES:
        raise ValueError(f"{path.name} is cut short or changed")
    return secret
