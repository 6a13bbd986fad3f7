"""Tests of where a URL may lead."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.images.destinations import (
    HAS_CREDENTIALS,
    NOT_ALLOWED,
    NOT_FOUND,
    NOT_HTTPS,
    NOT_PUBLIC,
    Destinations,
    FetchRefused,
)

PUBLIC = "93.184.215.14"


class Names:
    """A resolver that gives all names the same addresses and records what it was asked."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = addresses
        self.asked: list[tuple[str, int]] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append((host, port))
        if not self.addresses:
            raise OSError("unknown")
        return self.addresses


async def refusal(url: str, names: Names | None = None, allowed: Sequence[str] = ()) -> str:
    with pytest.raises(FetchRefused) as refused:
        await Destinations(names or Names(PUBLIC), allowed).check(url)
    return str(refused.value)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://files.example.org/a.png", NOT_HTTPS),
        ("file:///etc/passwd", NOT_HTTPS),
        ("gopher://files.example.org/", NOT_HTTPS),
        ("data:image/png;base64,AAAA", NOT_HTTPS),
        ("//files.example.org/a.png", NOT_HTTPS),
        ("https:///a.png", NOT_HTTPS),
        ("https://", NOT_HTTPS),
        ("https://files.example.org:99999999/", NOT_HTTPS),
        ("https://files.example.org\x00/", NOT_HTTPS),
        ("https://[::1/", NOT_HTTPS),
        ("https://ada:secret@files.example.org/a.png", HAS_CREDENTIALS),
        ("https://ada@files.example.org/a.png", HAS_CREDENTIALS),
        ("https://files.example.org@127.0.0.1/", HAS_CREDENTIALS),
    ],
)
async def test_only_plain_https_urls_are_taken(url: str, reason: str) -> None:
    names = Names(PUBLIC)
    assert await refusal(url, names) == reason
    assert not names.asked


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "metadata",
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "017700000001",
        "127.0.0.0x1",
        "0x08080808",
        "134744072",
        "8.8.8",
        "127.0.0.1.",
        "files.example.org.",
        "files..example.org",
        f"{'a' * 64}.example.org",
        "169.254.169.254",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::a9fe:a9fe]",
        "[2002:7f00:1::]",
        "[fe80::1]",
        "[fd00:ec2::254]",
        "①②⑦.⓪.⓪.①",
        "127。0。0。1",
    ],
)
async def test_a_host_that_is_no_public_address_is_refused_without_a_look_up(host: str) -> None:
    names = Names(PUBLIC)
    assert await refusal(f"https://{host}/a.png", names) in {NOT_PUBLIC, NOT_HTTPS}
    assert not names.asked


@pytest.mark.parametrize(
    "addresses",
    [
        (),
        ("127.0.0.1",),
        ("169.254.169.254",),
        (PUBLIC, "10.0.0.1"),
        ("2606:4700::1111", "::1"),
        ("fe80::1%eth0",),
        ("nonsense",),
    ],
)
async def test_a_name_is_refused_when_any_of_its_addresses_is_not_public(addresses: tuple[str, ...]) -> None:
    assert await refusal("https://files.example.org/a.png", Names(*addresses)) == NOT_PUBLIC


async def test_a_name_is_looked_up_once_and_keeps_its_addresses() -> None:
    names = Names("2606:4700::1111", PUBLIC, PUBLIC)
    found = await Destinations(names).check("https://Files.Example.org:8443/a.png?x=1#top")
    assert [str(address) for address in found.addresses] == ["2606:4700::1111", PUBLIC]
    assert names.asked == [("files.example.org", 8443)]


async def test_a_public_address_needs_no_look_up() -> None:
    names = Names()
    for host in (PUBLIC, "[2606:4700::1111]"):
        assert (await Destinations(names).check(f"https://{host}/a.png")).addresses
    assert not names.asked


@pytest.mark.parametrize(
    "host", ["evil.org", "files.example.org.evil.org", "sub.files.example.org", "xfiles.example.org"]
)
async def test_with_a_list_of_allowed_hosts_no_other_one_is(host: str) -> None:
    names = Names(PUBLIC)
    assert await refusal(f"https://{host}/a.png", names, ["files.example.org"]) == NOT_ALLOWED
    assert not names.asked


STORE = "store.internal.example.org"


@pytest.mark.parametrize(
    ("listed", "url"),
    [
        (STORE, f"https://{STORE.upper()}/a.png"),
        (STORE, f"https://{STORE}:8443/a.png"),
        (f"https://{STORE}:8443", f"https://{STORE}:8443/a.png"),
        (f"http://{STORE}", f"http://{STORE}/a.png"),
        (f"http://{STORE}:80", f"http://{STORE}/a.png"),
        (f"http://{STORE}:9000", f"https://{STORE}:9000/a.png"),
        ("minio", "https://minio/a.png"),
        ("localhost:443", "https://localhost/a.png"),
        ("10.0.0.7", "https://10.0.0.7/a.png"),
        ("[fd00:0:0::7]:9000", "https://[fd00::7]:9000/a.png"),
        ("169.254.169.254", "https://169.254.169.254/latest"),
    ],
)
async def test_a_listed_host_may_be_private(listed: str, url: str) -> None:
    for address in ("10.0.0.1", "100.64.0.1", "127.0.0.1", "172.31.0.1", "192.168.1.1", "fd12::1", "::1", PUBLIC):
        assert (await Destinations(Names(address), ["files.example.org", listed]).check(url)).addresses


@pytest.mark.parametrize(
    ("listed", "url", "reason"),
    [
        (STORE, f"http://{STORE}/a.png", NOT_HTTPS),
        (f"https://{STORE}", f"http://{STORE}/a.png", NOT_HTTPS),
        (f"{STORE}:8443", f"https://{STORE}/a.png", NOT_ALLOWED),
        (f"http://{STORE}:9000", f"http://{STORE}:9001/a.png", NOT_ALLOWED),
        (f"http://{STORE}", f"http://a.{STORE}/a.png", NOT_ALLOWED),
        (f"http://{STORE}", f"http://ada:secret@{STORE}/a.png", HAS_CREDENTIALS),
        ("http://10.0.0.7", "http://10.0.0.70/a.png", NOT_ALLOWED),
        ("http://10.0.0.7", "http://0x0a000007/a.png", NOT_ALLOWED),
        ("http://10.0.0.7", "http://[::ffff:10.0.0.7]/a.png", NOT_ALLOWED),
    ],
)
async def test_a_host_is_listed_with_its_scheme_and_port(listed: str, url: str, reason: str) -> None:
    names = Names("10.0.0.7")
    assert await refusal(url, names, [listed]) == reason
    assert not names.asked


@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "0.0.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "fd00:ec2::254",
        "fd20:ce::254",
        "fe80::1",
        "fd00::1%eth0",
        "::",
        "::ffff:169.254.169.254",
        "64:ff9b::a9fe:a9fe",
    ],
)
async def test_the_name_of_a_listed_host_never_leads_to_metadata_or_to_what_is_no_machine(address: str) -> None:
    assert await refusal(f"https://{STORE}/a.png", Names(address), [STORE]) == NOT_FOUND
    assert await refusal(f"https://{STORE}/a.png", Names("10.0.0.1", address), [STORE]) == NOT_FOUND


async def test_a_listed_host_without_an_address_is_told_of() -> None:
    assert await refusal(f"https://{STORE}/a.png", Names(), [STORE]) == NOT_FOUND


@given(st.text(max_size=40), st.sampled_from(["http://", "https://files.example.org"]))
async def test_with_a_list_only_its_hosts_pass(text: str, start: str) -> None:
    try:
        found = await Destinations(Names("10.0.0.1"), ["files.example.org"]).check(start + text)
    except FetchRefused:
        return
    assert (found.url.scheme, found.url.host) == ("https", "files.example.org")


@given(st.text(max_size=40), st.sampled_from(["", "https://", "https://a.example/"]))
async def test_no_url_breaks_the_check(text: str, start: str) -> None:
    try:
        found = await Destinations(Names(PUBLIC)).check(start + text)
    except FetchRefused:
        return
    assert found.url.scheme == "https"
