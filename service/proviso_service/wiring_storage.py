"""Chooses where uploaded originals lie, and what they are sealed with."""

from pathlib import Path
from typing import TYPE_CHECKING

from proviso_service.backends.blobs.folder import FolderBlobStore, folder_of
from proviso_service.backends.blobs.port import PlainBlobs
from proviso_service.backends.sql.state_url import postgres_url, state_file
from proviso_service.backends.storage_health import StorageHealth
from proviso_service.errors import Unavailable, UnusableKeys
from proviso_service.settings import Settings, is_safe_url

if TYPE_CHECKING:
    from proviso_service.backends.sealing.blobs import SealedBlobs
    from proviso_service.backends.sealing.tenant_keys import TenantKeys


def state_of(settings: Settings) -> Path | None:
    """The file of the state; None where it lies in PostgreSQL. Raises UnusableState."""
    url = settings.resolved_state_url
    return None if postgres_url(url) else state_file(url)


def is_shared(settings: Settings) -> bool:
    """Whether other processes may use the state, too: all that they have to know of each other is where all see it."""
    storage = settings.storage
    has_redis = bool(storage.redis_url.get_secret_value())
    return state_of(settings) is None and has_redis and storage.blob_url.startswith("s3://")


def blob_store(settings: Settings, health: StorageHealth | None = None) -> "PlainBlobs | SealedBlobs":
    """The store of the originals, sealed where the settings name keys. Raises UnusableKeys when a key that is needed is
    not there, and Unavailable."""
    store = plain_blobs(settings, health)
    keys = tenant_keys(settings)
    if keys is None:
        if any(_key_folder(settings).glob("*.json")):
            raise UnusableKeys("Originals are sealed: PROVISO_STORAGE__SEAL_KEYS has to name their master key")
        return store
    return sealed_blobs(store, keys)


def plain_blobs(settings: Settings, health: StorageHealth | None = None) -> PlainBlobs:
    """The store of the originals as it keeps them, sealed or not. Raises Unavailable."""
    url = settings.storage.blob_url
    if not url.startswith("s3://"):
        return FolderBlobStore(settings.own_blobs_folder or settings.data_dir / "blobs", health)
    try:
        from proviso_service.backends.blobs.s3 import S3BlobStore
    except ModuleNotFoundError as error:
        raise Unavailable(f"Uploaded files in {url} take a package: install proviso-service[replicas]") from error
    return S3BlobStore(url)


def sealed_blobs(store: PlainBlobs, keys: "TenantKeys") -> "SealedBlobs":
    """The store of originals that are sealed with these keys. Raises UnusableKeys when one of them is not there, and
    Unavailable."""
    from proviso_service.backends.sealing.blobs import SEALED, SealedBlobs

    keys.check()
    known = {folder_of(tenant) for tenant in keys.tenants()}
    if lost := sorted(store.folders_with(SEALED, besides=known)):
        raise UnusableKeys(f"Originals in the folder {lost[0]} are sealed, and their key is not in {keys}: restore it")
    return SealedBlobs(store, keys)


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
