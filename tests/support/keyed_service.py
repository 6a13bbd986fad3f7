"""The whole service behind TLS, which accepts API keys."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from proviso_service.access import ApiKey, digest_of, new_key
from proviso_service.backends.sql.access import SqlApiKeyStore
from proviso_service.backends.sql.database import Database, utc_now
from proviso_service.identity import Role
from proviso_service.settings import Settings
from proviso_service.wiring_access import api_key_secret
from tests.support.configured import configured
from tests.support.running import running_service
from tests.support.tls_files import TlsAuthority

TENANT = "acme"


async def made_key(settings: Settings, name: str, *roles: Role) -> str:
    """A new key of the service in a data folder."""
    key_id, key = new_key()
    digest = digest_of(api_key_secret(settings), key)
    await _with_keys(settings, ApiKey(key_id, TENANT, name, frozenset(roles), digest, utc_now()))
    return key


async def _with_keys(settings: Settings, key: ApiKey) -> None:
    database = Database(settings.resolved_state_url)
    try:
        await database.migrate()
        await SqlApiKeyStore(database).add(key)
    finally:
        await database.close()


@dataclass(frozen=True)
class KeyedService:
    """Where the service is, and keys that open it: `ada` and `bob` are users, `gateway` acts for users."""

    port: int
    settings: Settings
    authority: TlsAuthority
    ada: str
    bob: str
    gateway: str

    @property
    def target(self) -> str:
        return f"localhost:{self.port}"

    async def revoke(self, key: str) -> None:
        database = Database(self.settings.resolved_state_url)
        try:
            await SqlApiKeyStore(database).revoke(key.split("_")[1])
        finally:
            await database.close()


@asynccontextmanager
async def keyed_service(
    folder: Path, models_dir: Path, *, name: str = "data", mutual: bool = False
) -> AsyncIterator[KeyedService]:
    """Certificates lie in the folder, `ca.pem` among them. With `mutual`, every client has to show one."""
    authority = TlsAuthority(folder)
    certificate, key = authority.server()
    server = {"tls_cert": certificate, "tls_key": key} | ({"tls_client_ca": authority.ca} if mutual else {})
    data_dir = folder / name
    async with running_service(
        data_dir, models_dir, server={"port": 0, "drain_s": 0.5} | server, auth={"api_keys": True}
    ) as running:
        settings, _ = configured({"data_dir": data_dir, "models_dir": models_dir})
        made = KeyedService(running.app.port, settings, authority, "", "", "")
        yield replace(
            made,
            ada=await made_key(settings, "ada"),
            bob=await made_key(settings, "bob"),
            gateway=await made_key(settings, "gateway", Role.ACT_FOR_USERS),
        )
