"""Tests of which addresses the service may connect to."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.images.destinations import is_public

HOSTILE = [
    "0.0.0.0",  # noqa: S104 - refused, not listened on
    "10.0.0.1",
    "100.64.0.1",
    "100.100.100.200",
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.169.254",
    "169.254.170.2",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::8.8.8.8",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "::ffff:0:10.0.0.1",
    "64:ff9b::127.0.0.1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:2::1",
    "2001:10::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:808:808::",
    "3fff::1",
    "4000::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fd20:ce::254",
    "fe80::1",
    "fe80::1%eth0",
    "2606:4700::1%eth0",
    "fec0::1",
    "ff02::1",
    "ff0e::1",
]


@pytest.mark.parametrize("address", HOSTILE)
def test_an_address_off_the_public_internet_is_refused(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "1.1.1.1", "172.15.255.255", "172.32.0.0", "100.63.255.255", "2606:4700::1111", "64:ff9b::8.8.8.8"],
)
def test_a_public_address_is_allowed(address: str) -> None:
    assert is_public(ip_address(address))


SPECIAL = [
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
    "192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/3",
]  # fmt: skip
SPECIAL_V6 = ["::/8", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "fc00::/7", "fe80::/10", "ff00::/8"]


@given(st.sampled_from(SPECIAL).flatmap(lambda n: st.ip_addresses(v=4, network=IPv4Network(n))))
def test_no_address_of_a_special_range_is_public(address: IPv4Address) -> None:
    assert not is_public(address)
    for disguise in (f"::ffff:{address}", f"::{address}", f"64:ff9b::{address}"):
        assert not is_public(ip_address(disguise))
    assert not is_public(IPv6Address((0x2002 << 112) | (int(address) << 80)))


@given(st.sampled_from(SPECIAL_V6).flatmap(lambda n: st.ip_addresses(v=6, network=IPv6Network(n))))
def test_no_v6_address_of_a_special_range_is_public(address: IPv6Address) -> None:
    assert not is_public(address)


@given(st.ip_addresses())
def test_nothing_is_public_that_the_standard_library_calls_private(address: IPv4Address | IPv6Address) -> None:
    if is_public(address):
        assert address.is_global
        assert not address.is_multicast
