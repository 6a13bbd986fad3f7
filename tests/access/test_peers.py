"""Client certificates: the names that the file of peers knows, and a file that changes."""

import os
from pathlib import Path

import pytest

from proviso_service.access import Certificates, Credentials, UnreadablePeers
from proviso_service.errors import Unauthenticated
from proviso_service.identity import Role

PEERS = """
["spiffe://example.org/importer"]
tenant = "smith"
user = "importer"
roles = ["operator"]
matters = ["25E70284-6124-4A2B-9C89-0123456789AB"]

["gateway.example.org"]
tenant = "jones"
user = "gateway"
"""
SPIFFE, DNS = (
    Credentials(peer_names=("spiffe://example.org/importer",)),
    Credentials(peer_names=("gateway.example.org",)),
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "peers.toml"
    path.write_text(PEERS)
    return path


@pytest.fixture
def certificates(file: Path) -> Certificates:
    certificates = Certificates(file)
    certificates.open()
    return certificates


async def test_a_name_stands_for_a_caller(certificates: Certificates) -> None:
    caller = await certificates.authenticate(SPIFFE)
    assert caller is not None
    assert (caller.tenant, caller.user, caller.roles) == ("smith", "importer", frozenset({Role.OPERATOR}))
    assert caller.matters == frozenset({"25e70284-6124-4a2b-9c89-0123456789ab"})
    assert caller.key == "spiffe://example.org/importer"
    other = await certificates.authenticate(DNS)
    assert other is not None
    assert (other.tenant, other.user, other.roles, other.matters) == ("jones", "gateway", frozenset(), None)


async def test_a_certificate_of_several_names_is_the_first_that_is_known(certificates: Certificates) -> None:
    caller = await certificates.authenticate(Credentials(peer_names=("10.0.0.7", *DNS.peer_names, *SPIFFE.peer_names)))
    assert caller is not None
    assert caller.user == "gateway"


@pytest.mark.parametrize(
    "name", ["other.example.org", "GATEWAY.example.org", "*.example.org", "spiffe://example.org/", ""]
)
async def test_a_name_that_is_not_known(certificates: Certificates, name: str) -> None:
    with pytest.raises(Unauthenticated):
        await certificates.authenticate(Credentials(peer_names=(name,)))


async def test_a_token_goes_before_the_certificate(certificates: Certificates) -> None:
    assert await certificates.authenticate(Credentials("token", DNS.peer_names)) is None
    assert await certificates.authenticate(Credentials()) is None


async def test_a_name_that_is_struck_out_opens_nothing_more(certificates: Certificates, file: Path) -> None:
    replace(file, PEERS.partition('["gateway')[0])
    assert await certificates.authenticate(SPIFFE) is not None
    with pytest.raises(Unauthenticated):
        await certificates.authenticate(DNS)


async def test_while_the_file_is_damaged_nobody_is_known(certificates: Certificates, file: Path) -> None:
    replace(file, '["gateway')
    for _ in range(2):
        with pytest.raises(Unauthenticated):
            await certificates.authenticate(DNS)
    replace(file, PEERS)
    assert await certificates.authenticate(DNS) is not None


async def test_a_file_that_goes_away_and_comes_back(certificates: Certificates, file: Path) -> None:
    away = file.with_suffix(".away")
    os.replace(file, away)  # noqa: PTH105
    with pytest.raises(Unauthenticated):
        await certificates.authenticate(DNS)
    os.replace(away, file)  # noqa: PTH105
    assert await certificates.authenticate(DNS) is not None


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "cannot be read"),
        ("[", "cannot be read"),
        ('["a"]\nuser = "b"', "a.tenant"),
        ('["a"]\ntenant = ""\nuser = "b"', "a.tenant"),
        ('["a"]\ntenant = "t"\nuser = "b"\nroles = ["root"]', "a.roles"),
        ('["a"]\ntenant = "t"\nuser = "b"\nrole = "admin"', "a.role"),
    ],
)
def test_a_file_that_is_wrong_is_named(tmp_path: Path, content: str | None, told: str) -> None:
    path = tmp_path / "peers.toml"
    if content is not None:
        path.write_text(content)
    with pytest.raises(UnreadablePeers, match=told):
        Certificates(path).open()


def replace(file: Path, content: str) -> None:
    """As an editor does: the new file takes the place of the old one."""
    new = file.with_suffix(".new")
    new.write_text(content)
    os.replace(new, file)  # noqa: PTH105
