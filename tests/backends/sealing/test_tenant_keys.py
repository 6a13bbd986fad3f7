"""Keys of tenants: who wraps them, and what becomes of them when a rotation breaks off."""

from collections.abc import Collection
from pathlib import Path

import pytest

from proviso_service.backends.sealing.key_file import KeyFile
from proviso_service.backends.sealing.tenant_keys import TenantKeys
from proviso_service.errors import UnusableKeys

TENANTS = ("acme", "An odd tenant / ä", "")


class BreakingOff(KeyFile):
    """Fails after so many keys were wrapped."""

    left = 0

    def aead(self, tenant: str) -> object:
        self.left -= 1
        if self.left < 0:
            raise UnusableKeys("broken off")
        return super().aead(tenant)

    def retire(self, tenants: Collection[str]) -> None:
        if self.left == 0:
            raise UnusableKeys("broken off")
        super().retire(tenants)


@pytest.mark.parametrize("steps", range(7))
def test_a_rotation_that_breaks_off_anywhere_loses_no_key_and_can_be_done_again(tmp_path: Path, steps: int) -> None:
    master = KeyFile(tmp_path / "master.key")
    master.make()
    keys = TenantKeys(tmp_path / "keys", master)
    for tenant in TENANTS:
        keys.for_sealing(tenant)
    breaking = BreakingOff(tmp_path / "master.key")
    breaking.left = steps
    with pytest.raises(UnusableKeys) as told:
        TenantKeys(tmp_path / "keys", breaking).rewrap()
    assert told.value.details == "broken off"
    TenantKeys(tmp_path / "keys", master).check()
    assert sorted(keys.rewrap()) == sorted(TENANTS)
    TenantKeys(tmp_path / "keys", master).check()


def test_the_files_of_keys_are_their_owners_alone_and_open_with_their_master_key_only(tmp_path: Path) -> None:
    masters = [KeyFile(tmp_path / name) for name in ("one.key", "two.key")]
    for master in masters:
        master.make()
    TenantKeys(tmp_path / "keys", masters[0]).for_sealing("acme")
    files = [tmp_path / "one.key", tmp_path / "keys" / "acme.json"]
    assert [file.stat().st_mode & 0o777 for file in files] == [0o600, 0o600]
    (tmp_path / "keys" / "other.json").write_text((tmp_path / "keys" / "acme.json").read_text())
    for master, tenant in ((masters[1], "acme"), (masters[0], "other")):
        with pytest.raises(UnusableKeys) as told:
            TenantKeys(tmp_path / "keys", master).for_opening(tenant)
        assert told.value.details == f"The key of tenant {tenant!r} was not wrapped by {master}"
