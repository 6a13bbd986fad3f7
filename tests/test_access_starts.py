"""A service whose credentials cannot be checked does not start, and says why in one line."""

from pathlib import Path
from typing import Any

import pytest

from proviso_service.wiring import App
from proviso_service.wiring_resources import StartupError
from tests.support.configured import configured
from tests.support.migrated import state_in
from tests.support.shared_encoder import shared_encoder
from tests.support.tls_files import TlsAuthority
from tests.support.token_issuer import AUDIENCE, ISSUER, Issuer

NAMED = {"issuer": ISSUER, "audience": AUDIENCE}


async def refusal(folder: Path, models_dir: Path, auth: dict[str, Any], **server: Any) -> str:
    state_in(folder / "data")
    values = {"data_dir": folder / "data", "models_dir": models_dir, "server": {"port": 0} | server, "auth": auth}
    settings, config = configured(values)
    with pytest.raises(StartupError) as caught:
        await App.start(settings, encoder=shared_encoder(models_dir), config=config)
    assert "\n" not in str(caught.value)
    return str(caught.value)


async def test_tokens_need_their_issuer_and_audience(tmp_path: Path, models_dir: Path) -> None:
    (tmp_path / "keys.json").write_bytes(Issuer().key_set)
    for missing in NAMED:
        auth = {"jwks": str(tmp_path / "keys.json"), **NAMED, missing: ""}
        assert "auth.issuer and auth.audience" in await refusal(tmp_path, models_dir, auth)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("nothing.json", "nothing.json cannot be read"),
        ("http://login.example/keys", "https"),
        ("ftp://login.example/keys", "https"),
        ("http://[/keys", "https"),
        ("https://127.0.0.1:1/keys", "cannot be read"),
        ("https://[/keys", "cannot be read"),
    ],
)
async def test_a_key_set_that_cannot_be_used(tmp_path: Path, models_dir: Path, source: str, told: str) -> None:
    assert told in await refusal(tmp_path, models_dir, {"jwks": source, **NAMED})


async def test_a_file_of_peers_needs_a_client_authority(tmp_path: Path, models_dir: Path) -> None:
    peers = tmp_path / "peers.toml"
    peers.write_text("")
    assert "server.tls_client_ca" in await refusal(tmp_path, models_dir, {"peers_file": peers})


async def test_a_file_of_peers_that_is_wrong(tmp_path: Path, models_dir: Path) -> None:
    authority, peers = TlsAuthority(tmp_path), tmp_path / "peers.toml"
    certificate, key = authority.server()
    tls = {"tls_cert": certificate, "tls_key": key, "tls_client_ca": authority.ca}
    assert "peers.toml cannot be read" in await refusal(tmp_path, models_dir, {"peers_file": peers}, **tls)
    peers.write_text('["a"]\ntenant = "smith"')
    assert "wrong at a.user" in await refusal(tmp_path, models_dir, {"peers_file": peers}, **tls)


async def test_a_secret_that_is_damaged(tmp_path: Path, models_dir: Path) -> None:
    secret = tmp_path / "data" / "secrets" / "api-keys.secret"
    secret.parent.mkdir(parents=True)
    secret.write_bytes(b"")
    assert "cut short" in await refusal(tmp_path, models_dir, {"api_keys": True})
