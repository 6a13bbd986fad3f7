"""Master keys in a transit engine, over its own protocol."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from proviso_service.backends.sealing.tenant_keys import TenantKeys
from proviso_service.backends.sealing.transit import TransitKeys
from proviso_service.errors import KeyDestroyed, UnusableKeys
from tests.support.transit_server import TOKEN, TransitServer, transit_server


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[TransitServer]:
    monkeypatch.setenv("VAULT_TOKEN", TOKEN)
    with transit_server() as server:
        yield server


@contextmanager
def refused(reason: str) -> Iterator[None]:
    with pytest.raises(UnusableKeys) as told:
        yield
    assert reason in told.value.details
    assert "\n" not in told.value.details


def keys_in(folder: Path, server: TransitServer) -> TenantKeys:
    return TenantKeys(folder, TransitKeys(server.url))


def test_each_tenant_has_a_key_of_its_own_that_is_asked_once(tmp_path: Path, server: TransitServer) -> None:
    keys = keys_in(tmp_path, server)
    for _ in range(3):
        for tenant in ("acme", "An odd one / ä"):
            keys.for_sealing(tenant)
    assert server.calls == ["POST encrypt", "POST decrypt", "POST decrypt"] * 2  # Tink opens what it has wrapped
    assert len(server.keys) == 2
    assert "proviso-acme" in server.keys


def test_a_rotation_wraps_anew_and_what_was_wrapped_before_opens_nothing(tmp_path: Path, server: TransitServer) -> None:
    keys_in(tmp_path / "keys", server).for_sealing("acme")
    shutil.copytree(tmp_path / "keys", tmp_path / "old")
    assert keys_in(tmp_path / "keys", server).rewrap() == ["acme"]
    keys_in(tmp_path / "keys", server).check()
    with refused("status 400"):
        keys_in(tmp_path / "old", server).check()


def test_what_is_destroyed_opens_with_no_copy_of_the_wrapped_key(tmp_path: Path, server: TransitServer) -> None:
    keys_in(tmp_path / "keys", server).for_sealing("acme")
    shutil.copytree(tmp_path / "keys", tmp_path / "copy")
    keys_in(tmp_path / "keys", server).destroy("acme")
    assert server.keys == {}
    with pytest.raises(KeyDestroyed):
        keys_in(tmp_path / "keys", server).for_opening("acme")
    with refused("status 400"):
        keys_in(tmp_path / "copy", server).for_opening("acme")


def test_a_service_that_is_away_or_refuses_is_named_in_one_line(
    tmp_path: Path, server: TransitServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys_in(tmp_path, server).for_sealing("acme")
    server.away = True
    with refused(f"The key service {server.url} answers decrypt/proviso-acme with status 503"):
        keys_in(tmp_path, server).check()
    server.away = False
    with refused("ConnectError"):
        TenantKeys(tmp_path, TransitKeys("http://127.0.0.1:1/v1/transit")).check()
    for token, reason in (("another", "status 403"), ("", "needs a token in VAULT_TOKEN")):
        monkeypatch.setenv("VAULT_TOKEN", token)
        with refused(reason):
            keys_in(tmp_path, server).check()
