"""`proviso keys`: API keys are made, listed and revoked in the data folder, also while the service runs."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

from rich.table import Table

from proviso_service.access import ApiKey, digest_of, new_key
from proviso_service.backends.sql.access import SqlApiKeyStore
from proviso_service.backends.sql.database import utc_now
from proviso_service.cli.configuration import load_settings
from proviso_service.cli.output import CommandError, UsageProblem, console, print_json
from proviso_service.cli.state import on_state
from proviso_service.identity import Role
from proviso_service.wiring_access import CannotAuthenticate, api_key_secret

T = TypeVar("T")

MAX_NAME_CHARS = 128


def create(
    data_dir: Path | None, tenant: str, name: str, roles: list[Role], matters: list[str], days: int | None
) -> None:
    """Makes a key and prints it, alone on standard output, so that a script can take it."""
    if not (0 < len(tenant) <= MAX_NAME_CHARS and 0 < len(name) <= MAX_NAME_CHARS and (tenant + name).isprintable()):
        raise UsageProblem(f"Tenant and name have 1 to {MAX_NAME_CHARS} printable characters")
    settings = load_settings({("data_dir",): data_dir})
    key_id, key = new_key()
    try:
        digest = digest_of(api_key_secret(settings), key)
    except CannotAuthenticate as error:
        raise UsageProblem(str(error)) from error
    now = utc_now()
    expires = now + timedelta(days=days) if days else None
    only = frozenset(matter.lower() for matter in matters) if matters else None
    made = ApiKey(key_id, tenant, name, frozenset(roles), digest, now, expires, matters=only)
    _with_keys(data_dir, lambda keys: keys.add(made))
    console().print(key, soft_wrap=True)
    told = console(stderr=True)
    told.print(f"This is the only time that the key is shown; `proviso keys list` knows it as {made.prefix}.")
    if not settings.auth.api_keys:
        told.print("The service accepts keys once it runs with PROVISO_AUTH__API_KEYS=true.")


def show(data_dir: Path | None, *, as_json: bool) -> None:
    """Lists all keys, without what opens anything."""
    keys = _with_keys(data_dir, lambda store: store.all())
    if as_json:
        for key in keys:
            print_json(_plain(key))
        return
    if not keys:
        console().print("There are no keys; `proviso keys create` makes one.")
        return
    table = Table("Key", "Tenant", "Name", "Roles", "Made", "Last used", "State", box=None, header_style="bold")
    table.columns[0].no_wrap = True
    for key in keys:
        roles = ", ".join(sorted(key.roles))
        times = (f"{key.create_time:%Y-%m-%d}", f"{key.last_use_time:%Y-%m-%d %H:%M}" if key.last_use_time else "never")
        table.add_row(key.prefix, key.tenant, key.name, roles, *times, _state(key))
    console().print(table)


def revoke(data_dir: Path | None, key: str) -> None:
    """Revokes a key by its prefix, its id, or the whole of it. The running service refuses it from the next call on."""
    key_id = key.removeprefix("pvk_").partition("_")[0]
    if not _with_keys(data_dir, lambda store: store.revoke(key_id)):
        raise CommandError("There is no such key; `proviso keys list` shows them all")
    console().print(f"Revoked pvk_{key_id}")


def _plain(key: ApiKey) -> dict[str, object]:
    return {
        "key": key.prefix,
        "tenant": key.tenant,
        "name": key.name,
        "roles": sorted(key.roles),
        "matters": None if key.matters is None else sorted(key.matters),
        "create_time": key.create_time.isoformat(timespec="seconds"),
        "expire_time": key.expire_time and key.expire_time.isoformat(timespec="seconds"),
        "last_use_time": key.last_use_time and key.last_use_time.isoformat(timespec="seconds"),
        "state": _state(key),
    }


def _state(key: ApiKey) -> str:
    return "valid" if key.is_valid(utc_now()) else "revoked" if key.revoke_time else "expired"


def _with_keys(data_dir: Path | None, work: Callable[[SqlApiKeyStore], Awaitable[T]]) -> T:
    settings = load_settings({("data_dir",): data_dir})
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    return on_state(settings, "proviso keys", lambda database: work(SqlApiKeyStore(database)))
