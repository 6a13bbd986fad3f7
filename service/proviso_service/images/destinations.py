"""Where a URL leads: the one place that decides what may be connected to."""

import re
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from ipaddress import ip_address

import httpx

from proviso_service.images.public_addresses import Address, is_public

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""Addresses of a host name and port, best first. Raises OSError where there are none."""

HTTPS_PORT = 443
_MAX_LABEL = 63
_MAX_PORT = 65_535
_NUMBER_LABEL = re.compile(r"[0-9]+|0x[0-9a-f]*", re.IGNORECASE)

NOT_HTTPS = "its address is not an https URL"
HAS_CREDENTIALS = "its address holds a user name or password"
NOT_ALLOWED = "its host is not on the list of allowed hosts"
NOT_PUBLIC = "its address was not found on the public internet"
"""The same for names that do not exist, so that nobody learns which internal names do."""


class Refused(Exception):
    """Nothing may be fetched from there; the message says why, in words for the model."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A checked URL, and the checked addresses that it may be fetched from; the name is not looked up again."""

    url: httpx.URL
    addresses: tuple[Address, ...]


class Destinations:
    """`may_connect` judges addresses; every address of a name must pass. With `allowed_hosts` no other host does."""

    def __init__(
        self,
        resolve: Resolver,
        allowed_hosts: Collection[str] = (),
        may_connect: Callable[[Address], bool] = is_public,
    ) -> None:
        self._resolve = resolve
        self._allowed_hosts = frozenset(allowed_hosts)
        self._may_connect = may_connect

    async def check(self, url: str | httpx.URL) -> Destination:
        """Raises Refused."""
        parsed = _parse(url)
        host = parsed.raw_host.decode("ascii").lower()
        if self._allowed_hosts and host not in self._allowed_hosts:
            raise Refused(NOT_ALLOWED)
        addresses = _literal(host) or await self._look_up(host, parsed.port or HTTPS_PORT)
        if not addresses or not all(map(self._may_connect, addresses)):
            raise Refused(NOT_PUBLIC)
        return Destination(parsed, addresses)

    async def _look_up(self, host: str, port: int) -> tuple[Address, ...]:
        if not _is_full_name(host):
            raise Refused(NOT_PUBLIC)
        try:
            found = await self._resolve(host, port)
            return tuple(dict.fromkeys(map(ip_address, found)))
        except (OSError, ValueError):
            raise Refused(NOT_PUBLIC) from None


def _parse(url: str | httpx.URL) -> httpx.URL:
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, ValueError):
        raise Refused(NOT_HTTPS) from None
    if parsed.scheme != "https" or not parsed.raw_host or not 0 < (parsed.port or HTTPS_PORT) <= _MAX_PORT:
        raise Refused(NOT_HTTPS)
    if parsed.userinfo:
        raise Refused(HAS_CREDENTIALS)
    return parsed


def _literal(host: str) -> tuple[Address, ...]:
    """The address that the host is written as, in its one usual form."""
    try:
        return (ip_address(host),)
    except ValueError:
        return ()


def _is_full_name(host: str) -> bool:
    """Not a bare name of the local network, and not an IPv4 address in a form that only some programs understand:
    shortened, as one number, octal or hexadecimal. Those end in a label that is a number."""
    labels = host.split(".")
    return (
        len(labels) > 1
        and all(0 < len(label) <= _MAX_LABEL for label in labels)
        and not _NUMBER_LABEL.fullmatch(labels[-1])
    )
