"""A master key in a local file: a Tink keyset in JSON, which only its owner can read."""

from collections.abc import Collection
from pathlib import Path

import tink
from tink import aead, json_proto_keyset_format, secret_key_access

from proviso_service.backends.sealing.keysets import only_newest, renewed
from proviso_service.backends.sealing.writing import write_durably
from proviso_service.errors import UnusableKeys

_SECRET = secret_key_access.TOKEN


class KeyFile:
    """A MasterKey in a file, which is read each time: a running service follows a rotation."""

    def __init__(self, path: Path) -> None:
        aead.register()
        self._path = path

    def __str__(self) -> str:
        return str(self._path)

    def make(self) -> None:
        """Writes a new key. Raises UnusableKeys where there is a file already."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._path.touch(mode=0o600, exist_ok=False)
            self._write(tink.new_keyset_handle(aead.aead_key_templates.AES256_GCM))
        except OSError as error:
            raise UnusableKeys(f"The key file {self._path} cannot be made: {error.strerror}") from error

    def aead(self, tenant: str) -> aead.Aead:
        return self._read().primitive(aead.Aead)

    def renew(self, tenants: Collection[str]) -> None:
        self._write(renewed(self._read(), aead.aead_key_templates.AES256_GCM))

    def retire(self, tenants: Collection[str]) -> None:
        self._write(only_newest(self._read()))

    def destroy(self, tenant: str) -> None:
        """There is nothing to destroy: the tenant's key is nowhere but in its file."""

    def _read(self) -> tink.KeysetHandle:
        try:
            return json_proto_keyset_format.parse(self._path.read_text(), _SECRET)
        except FileNotFoundError:
            raise UnusableKeys(f"The key file {self._path} is not there: `proviso seal new-key` makes one") from None
        except (OSError, ValueError, tink.TinkError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not a key that the service made"
            raise UnusableKeys(f"The key file {self._path} cannot be used: {reason}") from error

    def _write(self, keys: tink.KeysetHandle) -> None:
        try:
            write_durably(self._path, json_proto_keyset_format.serialize(keys, _SECRET))
        except OSError as error:
            raise UnusableKeys(f"The key file {self._path} cannot be written: {error.strerror}") from error
