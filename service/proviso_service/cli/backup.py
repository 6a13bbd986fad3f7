"""`proviso backup` and `proviso restore`: all that a service keeps, copied to a folder and back again."""

import asyncio
import sys
from pathlib import Path

from proviso_service.backends.backup import back_up, restore
from proviso_service.backends.backup_files import BackupFailed, Manifest
from proviso_service.backends.folder_lock import DataFolderError
from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.integrity import UnusableState
from proviso_service.backends.sql.state_url import state_file
from proviso_service.backends.storage import locked
from proviso_service.cli.configuration import load_settings
from proviso_service.cli.output import CommandError, UsageProblem
from proviso_service.cli.state import record
from proviso_service.errors import ProvisoError, Unavailable, UnusableKeys
from proviso_service.settings import Settings
from proviso_service.wiring_storage import blob_store, plain_blobs, tenant_keys

MAX_NAMED = 5


def make_backup(destination: Path, data_dir: Path | None) -> int:
    """Makes a backup. Returns the exit code, which is 1 when originals were damaged before. Raises CommandError."""
    settings = load_settings({("data_dir",): data_dir})
    state = _state_of(settings)
    if not state.is_file():
        raise CommandError(f"There is nothing to back up in {settings.data_dir}")
    try:
        blobs, keys = blob_store(settings), tenant_keys(settings)
        manifest = asyncio.run(back_up(state, blobs, destination.absolute(), keys))
    except UnusableKeys as error:
        raise CommandError(f"The backup failed: {error.details}") from error
    except (BackupFailed, Unavailable) as error:
        raise CommandError(f"The backup failed: {error}") from error
    _record(settings, "proviso backup", "back up")
    sys.stdout.write(f"Backed up {_contents(manifest)} to {destination}\n")
    _tell_left_out(manifest)
    if not manifest.damaged:
        return 0
    named = ", ".join(manifest.damaged[:MAX_NAMED]) + (", ..." if len(manifest.damaged) > MAX_NAMED else "")
    sys.stderr.write(
        f"proviso: The uploaded files of {len(manifest.damaged)} documents were damaged already: {named}\n"
    )
    return 1


def restore_backup(source: Path, data_dir: Path | None) -> None:
    """Restores a backup into a data folder that holds nothing yet but models. Raises CommandError."""
    settings = load_settings({("data_dir",): data_dir})
    state = _state_of(settings)
    try:
        with locked(settings.data_dir, state, settings.own_blobs_folder):
            manifest = asyncio.run(restore(source, state, plain_blobs(settings), tenant_keys(settings)))
            _record(settings, "proviso restore", "restore")
    except DataFolderError as error:
        raise UsageProblem(str(error)) from error
    except UnusableKeys as error:
        raise CommandError(f"Nothing was restored: {error.details}") from error
    except (BackupFailed, Unavailable) as error:
        raise CommandError(f"Nothing was restored: {error}") from error
    sys.stdout.write(f"Restored {_contents(manifest)} of {manifest.create_time:%Y-%m-%d %H:%M:%S} UTC\n")
    _tell_left_out(manifest)


def _tell_left_out(manifest: Manifest) -> None:
    if manifest.without_key:
        tenants = ", ".join(manifest.without_key)
        sys.stderr.write(f"proviso: Nothing is there of these tenants, whose keys were destroyed: {tenants}\n")


def _record(settings: Settings, command: str, action: str) -> None:
    """What was done stays done where the audit cannot tell it, as on a full disk."""

    async def told() -> None:
        database = Database(settings.resolved_state_url)
        try:
            await record(database, command, action)
        finally:
            await database.close()

    try:
        asyncio.run(told())
    except ProvisoError as error:
        sys.stderr.write(f"proviso: The audit does not tell of this: {error.message}\n")


def _state_of(settings: Settings) -> Path:
    try:
        return state_file(settings.resolved_state_url)
    except UnusableState as error:
        raise UsageProblem(str(error)) from error


def _contents(manifest: Manifest) -> str:
    return f"the state and {len(manifest.originals):,} uploaded files ({manifest.size_bytes / 1e6:,.1f} MB)"
