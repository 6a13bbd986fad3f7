"""Master keys in a key service: the transit engine of HashiCorp Vault and OpenBao, with one key for each tenant."""

import base64
import os
from collections.abc import Collection

import httpx
import tink
from tink import aead

from proviso_service.backends.blobs.folder import folder_of
from proviso_service.errors import UnusableKeys

TOKEN_VARIABLE = "VAULT_TOKEN"  # noqa: S105  the name that all clients of Vault use
TIME_LIMIT_S = 10.0
ABSENT = (400, 404)
"""How the service answers about a key that it does not have."""


class TransitKeys:
    """A MasterKey in a transit engine at a URL such as https://vault.example.com:8200/v1/transit. A tenant's key is
    made when it is first used, and is called `proviso-` and the name of the tenant's folder of originals."""

    def __init__(self, url: str) -> None:
        aead.register()
        self._url = url.rstrip("/")

    def __str__(self) -> str:
        return self._url

    def aead(self, tenant: str) -> aead.Aead:
        return _TransitKey(self, _name_of(tenant))

    def renew(self, tenants: Collection[str]) -> None:
        for tenant in tenants:
            self.call("POST", f"keys/{_name_of(tenant)}/rotate")

    def retire(self, tenants: Collection[str]) -> None:
        for tenant in tenants:
            key = f"keys/{_name_of(tenant)}"
            newest = self.call("GET", key)["latest_version"]
            self.call("POST", f"{key}/config", {"min_decryption_version": newest})

    def destroy(self, tenant: str) -> None:
        key = f"keys/{_name_of(tenant)}"
        self.call("POST", f"{key}/config", {"deletion_allowed": True}, unless=ABSENT)
        self.call("DELETE", key, unless=ABSENT)

    def call(
        self, method: str, path: str, body: dict[str, object] | None = None, unless: Collection[int] = ()
    ) -> dict[str, object]:
        """Calls the service and returns what it answers; nothing for a status in `unless`. Raises UnusableKeys."""
        token = os.environ.get(TOKEN_VARIABLE, "")
        if not token:
            raise UnusableKeys(f"The key service {self} needs a token in {TOKEN_VARIABLE}")
        headers = {"X-Vault-Token": token, "X-Vault-Request": "true"}
        try:
            answer = httpx.request(method, f"{self}/{path}", json=body, headers=headers, timeout=TIME_LIMIT_S)
            if answer.status_code in unless:
                return {}
            answer.raise_for_status()
            return dict(answer.json()["data"]) if answer.content else {}
        except httpx.HTTPStatusError as error:
            status = error.response.status_code
            raise UnusableKeys(f"The key service {self} answers {path} with status {status}") from error
        except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
            raise UnusableKeys(f"The key service {self} cannot be used: {type(error).__name__}") from error


class _TransitKey(aead.Aead):  # type: ignore[misc]
    """One key of the service, in the form that Tink wraps keys with."""

    def __init__(self, keys: TransitKeys, name: str) -> None:
        self._keys = keys
        self._name = name

    def encrypt(self, plaintext: bytes, associated_data: bytes) -> bytes:
        body: dict[str, object] = {"plaintext": _text(plaintext), "associated_data": _text(associated_data)}
        return str(self._keys.call("POST", f"encrypt/{self._name}", body)["ciphertext"]).encode()

    def decrypt(self, ciphertext: bytes, associated_data: bytes) -> bytes:
        body: dict[str, object] = {"ciphertext": ciphertext.decode(), "associated_data": _text(associated_data)}
        try:
            return base64.b64decode(str(self._keys.call("POST", f"decrypt/{self._name}", body)["plaintext"]))
        except UnusableKeys:
            raise
        except (ValueError, KeyError) as error:
            raise tink.TinkError("the key service's answer cannot be read") from error


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _name_of(tenant: str) -> str:
    return f"proviso-{folder_of(tenant).lstrip('~')}"
