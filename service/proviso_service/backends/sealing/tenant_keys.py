"""The keys of tenants, each in a file of its own, wrapped by a master key.

A file has the tenant and a Tink keyset that the master key has encrypted, with the tenant as associated data; a file
without keyset tells that the key was destroyed. All methods block: they are for threads."""

import fcntl
import json
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import tink
from tink import json_proto_keyset_format, streaming_aead

from proviso_service.backends.blobs.folder import folder_of
from proviso_service.backends.sealing.keysets import renewed
from proviso_service.backends.sealing.writing import write_durably
from proviso_service.errors import KeyDestroyed, UnusableKeys

_TEMPLATE = streaming_aead.streaming_aead_key_templates.AES256_GCM_HKDF_1MB
_MAX_CACHED = 10_000


class MasterKey(Protocol):
    """Wraps the keys of tenants. Its methods raise UnusableKeys."""

    def aead(self, tenant: str) -> tink.aead.Aead:
        """What wraps and unwraps the key of a tenant."""
        ...

    def renew(self, tenants: Collection[str]) -> None:
        """Has new keys wrap from now on; what the old ones have wrapped can still be unwrapped."""
        ...

    def retire(self, tenants: Collection[str]) -> None:
        """Gives the old keys up."""
        ...

    def destroy(self, tenant: str) -> None:
        """Gives up what wraps only the key of this tenant, if there is such a thing."""
        ...


class TenantKeys:
    """Makes, finds, rotates and destroys keys, also while another process uses them: each use looks at the key's
    file. Methods raise UnusableKeys."""

    def __init__(self, folder: Path, master: MasterKey) -> None:
        streaming_aead.register()
        self._folder = folder
        self._master = master
        self._opened: dict[str, tuple[str, streaming_aead.StreamingAead]] = {}

    def __str__(self) -> str:
        return str(self._folder)

    def for_sealing(self, tenant: str) -> streaming_aead.StreamingAead:
        """The key of a tenant, which is made at its first use. Raises KeyDestroyed."""
        # A key that was there and is gone was destroyed, or its disk is away: another one must not take its place.
        if tenant not in self._opened and not self._file(tenant).exists():
            with self._changing():
                if not self._file(tenant).exists():
                    self._write(tenant, tink.new_keyset_handle(_TEMPLATE))
        return self.for_opening(tenant)

    def for_opening(self, tenant: str) -> streaming_aead.StreamingAead:
        """The key of a tenant. Raises KeyDestroyed, also when there is none."""
        wrapped = self._wrapped(tenant)
        cached = self._opened.get(tenant)
        if cached is None or cached[0] != wrapped:
            if len(self._opened) >= _MAX_CACHED:
                self._opened.clear()
            try:
                opened = self._unwrap(tenant, wrapped).primitive(streaming_aead.StreamingAead)
            except UnusableKeys:
                if self._wrapped(tenant) == wrapped:
                    raise
                return self.for_opening(tenant)  # another master key has wrapped it meanwhile
            cached = self._opened[tenant] = wrapped, opened
        return cached[1]

    def tenants(self) -> dict[str, bool]:
        """All tenants that have had a key, with whether they have it still."""
        found = (self._read(path) for path in sorted(self._folder.glob("*.json")))
        return {str(known["tenant"]): known["keyset"] is not None for known in found}

    def check(self) -> None:
        """Unwraps every key."""
        for tenant in self._held():
            self.for_opening(tenant)

    def rewrap(self) -> list[str]:
        """Has a new master key wrap the key of every tenant, gives the old one up, and returns the tenants. When it
        breaks off, every key can still be unwrapped; doing it again ends it."""
        with self._changing():
            held = self._held()
            self._master.renew(held)
            for tenant in held:
                self._write(tenant, self._unwrap(tenant, self._wrapped(tenant)))
            self._master.retire(held)
        return held

    def rotate(self, tenant: str) -> None:
        """Has a new key seal what is added for the tenant from now on. Raises KeyDestroyed."""
        with self._changing():
            self._write(tenant, renewed(self._unwrap(tenant, self._wrapped(tenant)), _TEMPLATE))

    def destroy(self, tenant: str) -> None:
        """Makes everything unreadable that the tenant's key has sealed, for good."""
        with self._changing():
            self._master.destroy(tenant)
            self._store(tenant, None)

    def _held(self) -> list[str]:
        return [tenant for tenant, held in self.tenants().items() if held]

    def _file(self, tenant: str) -> Path:
        return self._folder / f"{folder_of(tenant)}.json"

    def _read(self, path: Path) -> dict[str, str | None]:
        try:
            known = json.loads(path.read_text())
            return {"tenant": known["tenant"], "keyset": known["keyset"]}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UnusableKeys(f"The key in {path} cannot be read: restore the file") from error

    def _wrapped(self, tenant: str) -> str:
        path = self._file(tenant)
        wrapped = self._read(path)["keyset"] if path.exists() else None
        if wrapped is None:
            raise KeyDestroyed(tenant)
        return wrapped

    def _unwrap(self, tenant: str, wrapped: str) -> tink.KeysetHandle:
        try:
            return json_proto_keyset_format.parse_encrypted(wrapped, self._master.aead(tenant), tenant.encode())
        except (tink.TinkError, ValueError) as error:
            raise UnusableKeys(f"The key of tenant {tenant!r} was not wrapped by {self._master}") from error

    def _write(self, tenant: str, keys: tink.KeysetHandle) -> None:
        self._store(
            tenant, json_proto_keyset_format.serialize_encrypted(keys, self._master.aead(tenant), tenant.encode())
        )

    def _store(self, tenant: str, wrapped: str | None) -> None:
        write_durably(self._file(tenant), json.dumps({"tenant": tenant, "keyset": wrapped}))

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Lets one process at a time change keys: a key that is made while others are wrapped anew would be wrapped by
        the old master key."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(self._folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        except OSError as error:
            raise UnusableKeys(f"The keys in {self._folder} cannot be changed: {error.strerror}") from error
        finally:
            os.close(descriptor)
