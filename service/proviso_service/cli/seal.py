"""`proviso seal`: keys are made, rotated and destroyed in the data folder, also while the service runs."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from proviso_service.access import Done
from proviso_service.backends.sealing.key_file import KeyFile
from proviso_service.backends.sealing.originals import seal_originals, unsealed_originals
from proviso_service.backends.sealing.tenant_keys import TenantKeys
from proviso_service.backends.sql.audit import SqlAuditStore
from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.cli.configuration import load_settings
from proviso_service.cli.output import CommandError, UsageProblem, console
from proviso_service.cli.state import OPERATOR, has_state, on_state
from proviso_service.errors import KeyDestroyed, Unavailable, UnusableKeys
from proviso_service.identity import Act, Caller
from proviso_service.settings import Settings
from proviso_service.wiring_storage import plain_blobs, sealed_blobs, tenant_keys

MAX_NAMED = 5


def make_key(path: Path) -> None:
    """Writes a new master key to a new file."""
    with _told():
        KeyFile(path).make()
    console().print(f"Made {path}. Keep a copy apart from the backups, and set PROVISO_STORAGE__SEAL_KEYS={path}")


def show(data_dir: Path | None) -> None:
    """Lists the tenants that have had a key, and counts the originals that lie unsealed."""
    settings, keys = _keys(data_dir)
    with _told():
        for tenant, held in keys.tenants().items():
            console().print(f"{tenant}: {'has a key' if held else 'its key was destroyed'}")
        blobs = sealed_blobs(plain_blobs(settings), keys)
    unsealed = on_state(settings, "proviso seal status", lambda db: unsealed_originals(SqlMatterStore(db), blobs))
    hint = "; `proviso seal originals` seals them" if unsealed else ""
    console().print(f"{len(unsealed):,} originals lie unsealed{hint}")


def seal_all(data_dir: Path | None) -> int:
    """Seals what lies unsealed. Returns the exit code."""
    settings, keys = _keys(data_dir)
    with _told():
        blobs = sealed_blobs(plain_blobs(settings), keys)
        done = on_state(settings, "proviso seal originals", lambda db: seal_originals(SqlMatterStore(db), blobs))
    console().print(f"Sealed {done.sealed:,} originals")
    if not done.left:
        return 0
    named = ", ".join(done.left[:MAX_NAMED]) + (", ..." if len(done.left) > MAX_NAMED else "")
    sys.stderr.write(f"proviso: {len(done.left):,} originals are damaged, or their tenant has no key: {named}\n")
    return 1


def rotate_master(data_dir: Path | None) -> None:
    """Has a new master key wrap the keys of all tenants."""
    settings, keys = _keys(data_dir)
    with _told():
        held = keys.rewrap()
    _record(settings, "rewrap_key", held)
    console().print(f"A new master key wraps the keys of {len(held)} tenants; the old one is given up")


def rotate(data_dir: Path | None, tenant: str) -> None:
    """Has a new key seal what is added for a tenant."""
    settings, keys = _keys(data_dir)
    with _told():
        keys.rotate(tenant)
    _record(settings, "rotate_key", [tenant])
    console().print(f"What is added for {tenant} from now on is sealed with a new key")


def destroy(data_dir: Path | None, tenant: str) -> None:
    """Destroys the key of a tenant."""
    settings, keys = _keys(data_dir)
    with _told():
        if not keys.tenants().get(tenant):
            raise CommandError(f"Tenant {tenant!r} has no key; `proviso seal status` shows those that have one")
        keys.destroy(tenant)
    _record(settings, "destroy_key", [tenant])
    console().print(f"The key of {tenant} is destroyed")


def _record(settings: Settings, action: str, tenants: list[str]) -> None:
    """Tells the audit of each tenant what was done with its key, where there is a state."""

    async def append(database: Database) -> None:
        for tenant in tenants:
            act = Act(Caller(tenant, OPERATOR), "proviso seal")
            await SqlAuditStore(database).append(act, Done(action, "key", tenant))

    if has_state(settings):
        on_state(settings, "proviso seal", append)


def _keys(data_dir: Path | None) -> tuple[Settings, TenantKeys]:
    settings = load_settings({("data_dir",): data_dir})
    with _told():
        keys = tenant_keys(settings)
    if keys is None:
        raise UsageProblem("Nothing is sealed here: PROVISO_STORAGE__SEAL_KEYS names no master key")
    return settings, keys


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except UnusableKeys as error:
        raise CommandError(error.details) from error
    except Unavailable as error:
        raise CommandError(error.message) from error
    except KeyDestroyed as error:
        raise CommandError(f"Tenant {error.tenant!r} has no key") from error
