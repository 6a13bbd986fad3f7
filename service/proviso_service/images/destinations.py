"""Decides to which addresses a URL may lead, and looks names up: Destinations, its default rule `is_public`, the hosts
that an operator lists, and NameLookup."""

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import httpx

Address = IPv4Address | IPv6Address

_NOT_PUBLIC_V4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # shared by carriers; a metadata service lives here too
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # Azure's host, reachable from its machines only
        "169.254.0.0/16",  # link-local, metadata services
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # AMT relays
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)
_GLOBAL_UNICAST_V6 = IPv6Network("2000::/3")
_NOT_PUBLIC_V6 = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments, Teredo among them
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: an IPv4 address in disguise
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
)
_NAT64 = IPv6Network("64:ff9b::/96")


def is_public(address: Address) -> bool:
    """Whether the address belongs to one machine on the public internet. An IPv6 address of a NAT64 gateway is judged
    by the IPv4 address in it; other IPv6 addresses that hold an IPv4 one (mapped, compatible, 6to4, Teredo) are never
    public."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_V4)
    if address.scope_id is not None:
        return False
    if address in _NAT64:
        return is_public(IPv4Address(address.packed[-4:]))
    return address in _GLOBAL_UNICAST_V6 and not any(address in network for network in _NOT_PUBLIC_V6)


_PRIVATE = tuple(
    ip_network(network)
    for network in (
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "::1/128",
        "fc00::/7",
    )
)
_METADATA = frozenset(map(ip_address, ("100.100.100.200", "fd00:ec2::254", "fd20:ce::254")))
"""Where clouds tell a machine its secrets, as far as that is in private networks: Alibaba's, Amazon's and Google's."""


def is_private(address: Address) -> bool:
    """Whether the address belongs to one machine of a private network, or to this machine. Addresses of link-local
    networks do not count, and neither do other addresses of metadata services."""
    if isinstance(address, IPv6Address) and address.scope_id is not None:
        return False
    return address not in _METADATA and any(address in network for network in _PRIVATE)


Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""Looks up the addresses of a host name and port, best first. Raises OSError where there are none."""

_PORTS = {"https": 443, "http": 80}
_MAX_LABEL = 63
_MAX_PORT = 65_535
_NUMBER_LABEL = re.compile(r"[0-9]+|0x[0-9a-f]*", re.IGNORECASE)

NOT_HTTPS = "its address is not an https URL"
HAS_CREDENTIALS = "its address holds a user name or password"
NOT_ALLOWED = "its host is not on the list of allowed hosts"
NOT_PUBLIC = "its address was not found on the public internet"
"""The reason for names that do not exist, too, so that nobody learns which internal names exist."""
NOT_FOUND = "its host was not found, or only at addresses that images may not come from"
"""The reason for a host that the operator lists."""


class FetchRefused(Exception):
    """The image was not fetched. The message says why, in words that the model is shown."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A checked URL and the checked addresses to connect to. The name must not be looked up again: it could then lead
    elsewhere."""

    url: "httpx.URL"
    addresses: tuple[Address, ...]

    @property
    def port(self) -> int:
        return _port(self.url)


@dataclass(frozen=True, slots=True)
class ListedHost:
    """A host that the operator trusts: a name or an address, and one port of it or all. `is_plain` allows http beside
    https."""

    host: str
    port: int | None
    is_plain: bool

    @classmethod
    def of(cls, text: str) -> Self:
        """Reads `example.com`, `example.com:8443` and `http://10.0.0.7:9000`. Raises ValueError."""
        parts = urlsplit(text if "://" in text else f"https://{text}")
        return cls(_canonical(parts.hostname or ""), parts.port, parts.scheme == "http")

    def is_at(self, host: str, port: int) -> bool:
        return self.host == _canonical(host) and self.port in {None, port}


class Destinations:
    """Checks URLs. Where `listed_hosts` names any, all others are refused.

    Addresses must be public, and all addresses of a name must pass; `may_connect` is that rule. The name of a listed
    host may also lead to private addresses, but to no others; a host that is listed by its address may be at any."""

    def __init__(
        self,
        resolve: Resolver,
        listed_hosts: Collection[str] = (),
        may_connect: Callable[[Address], bool] = is_public,
    ) -> None:
        self._resolve = resolve
        self._listed = tuple(map(ListedHost.of, listed_hosts))
        self._may_connect = may_connect

    async def check(self, url: "str | httpx.URL") -> Destination:
        """The URL with the addresses of its host. Raises FetchRefused."""
        parsed = _parse(url)
        host, port = parsed.raw_host.decode("ascii").lower(), _port(parsed)
        listed = [entry for entry in self._listed if entry.is_at(host, port)]
        if self._listed and not listed:
            raise FetchRefused(NOT_ALLOWED)
        if parsed.scheme != "https" and not any(entry.is_plain for entry in listed):
            raise FetchRefused(NOT_HTTPS)
        literal = _literal(host)
        if listed and literal:
            return Destination(parsed, literal)
        may_connect, reason = (self._may_connect_to_listed, NOT_FOUND) if listed else (self._may_connect, NOT_PUBLIC)
        if not (literal or listed or _is_full_name(host)):
            raise FetchRefused(reason)
        addresses = literal or await self._look_up(host, port)
        if not addresses or not all(map(may_connect, addresses)):
            raise FetchRefused(reason)
        return Destination(parsed, addresses)

    def _may_connect_to_listed(self, address: Address) -> bool:
        return is_private(address) or self._may_connect(address)

    async def _look_up(self, host: str, port: int) -> tuple[Address, ...]:
        """The addresses of a name; none where it has none, or any that cannot be read."""
        try:
            return tuple(dict.fromkeys(map(ip_address, await self._resolve(host, port))))
        except (OSError, ValueError):
            return ()


def _parse(url: "str | httpx.URL") -> "httpx.URL":
    import httpx

    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, ValueError):
        raise FetchRefused(NOT_HTTPS) from None
    if parsed.scheme not in _PORTS or not parsed.raw_host or not 0 < _port(parsed) <= _MAX_PORT:
        raise FetchRefused(NOT_HTTPS)
    if parsed.userinfo:
        raise FetchRefused(HAS_CREDENTIALS)
    return parsed


def _port(url: "httpx.URL") -> int:
    return _PORTS[url.scheme] if url.port is None else url.port


def _canonical(host: str) -> str:
    """The host in lower case; an address in its usual notation."""
    return str(next(iter(_literal(host)), host.lower()))


def _literal(host: str) -> tuple[Address, ...]:
    """The address, when the host is an address in its usual notation; else nothing."""
    try:
        return (ip_address(host),)
    except ValueError:
        return ()


def _is_full_name(host: str) -> bool:
    """Whether the host is a name with a domain. Names of one label belong to the local network. A name whose last label
    is a number is an IPv4 address in a notation that only some programs read (shortened, one number, octal, hex)."""
    labels = host.split(".")
    return (
        len(labels) > 1
        and all(0 < len(label) <= _MAX_LABEL for label in labels)
        and not _NUMBER_LABEL.fullmatch(labels[-1])
    )


_THREADS = 8


class NameLookup:
    """A Resolver with threads of its own. A look-up cannot be interrupted, and slow ones must not block the threads
    that the rest of the service shares."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="name-lookup")

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        """The addresses of the name. Raises OSError where it has none."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, _addresses, host, port)

    def close(self) -> None:
        """Stops the threads, without waiting for look-ups that are under way."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _addresses(host: str, port: int) -> list[str]:
    try:
        return [str(found[4][0]) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    except UnicodeError as error:
        raise OSError(f"{host!r} is no host name") from error
