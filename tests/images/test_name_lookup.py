"""Tests of names that the operating system looks up."""

from collections.abc import Iterator

import pytest

from proviso_service.images.destinations import NameLookup


@pytest.fixture
def names() -> Iterator[NameLookup]:
    lookup = NameLookup()
    yield lookup
    lookup.close()


async def test_a_name_gives_its_addresses(names: NameLookup) -> None:
    assert set(await names("localhost", 443)) & {"127.0.0.1", "::1"}


@pytest.mark.parametrize("host", ["a" * 64, f"{'a' * 64}.example.org", "\ud800.example.org", "\0"])
async def test_what_is_no_name_has_no_address(names: NameLookup, host: str) -> None:
    with pytest.raises(OSError, match=r"."):
        await names(host, 443)
