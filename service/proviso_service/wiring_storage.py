"""Chooses where uploaded originals lie, and what they are sealed with."""

from pathlib import Path
from typing import TYPE_CHECKING

from proviso_service.backends.blobs.folder import FolderBlobStore, folder_of
from proviso_service.backends.storage_health import StorageHealth
from proviso_service.errors import UnusableKeys
from proviso_service.settings import Settings, is_safe_url

if TYPE_CHECKING:
    from proviso_service.backends.sealing.blobs import SealedBlobs
    from proviso_service.backends.sealing.tenant_keys import TenantKeys


def blob_store(settings: Settings, health: StorageHealth | None = None) -> "FolderBlobStore | SealedBlobs":
    """The store of the originals in the data folder, sealed where the settings name keys. Raises UnusableKeys when a
    key that is needed is not there."""
    folder = FolderBlobStore(settings.data_dir / "blobs", health)
    keys = tenant_keys(settings)
    if keys is None:
        if any(_key_folder(settings).glob("*.json")):
            raise UnusableKeys("Originals are sealed: PROVISO_STORAGE__SEAL_KEYS has to name their master key")
        return folder
    return sealed_blobs(folder, keys)


def sealed_blobs(folder: FolderBlobStore, keys: "TenantKeys") -> "SealedBlobs":
    """The store of originals that are sealed with these keys. Raises UnusableKeys when one of them is not there."""
    from proviso_service.backends.sealing.blobs import SEALED, SealedBlobs

    keys.check()
    known = {folder_of(tenant) for tenant in keys.tenants()}
    if lost := sorted(folder.folders_with(SEALED) - known):
        raise UnusableKeys(f"Originals in the folder {lost[0]} are sealed, and their key is not in {keys}: restore it")
    return SealedBlobs(folder, keys)


def tenant_keys(settings: Settings) -> "TenantKeys | None":
    """The keys that originals are sealed with; None where they are not. Raises UnusableKeys."""
    master = settings.storage.seal_keys
    if not master:
        return None
    from proviso_service.backends.sealing.tenant_keys import TenantKeys

    folder = _key_folder(settings)
    if "://" not in master:
        from proviso_service.backends.sealing.key_file import KeyFile

        return TenantKeys(folder, KeyFile(Path(master)))
    from proviso_service.backends.sealing.transit import TransitKeys

    if not is_safe_url(master):
        raise UnusableKeys(f"Keys have to come from a file or an https address, and not from {master}")
    return TenantKeys(folder, TransitKeys(master))


def _key_folder(settings: Settings) -> Path:
    return settings.data_dir / "secrets" / "tenant-keys"
