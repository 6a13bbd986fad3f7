"""This module holds the options and the checks that the channels of both clients share."""

import ipaddress
from collections.abc import Sequence
from urllib.parse import unquote

Options = Sequence[tuple[str, str | int]]

_OPTIONS: Options = (
    # Keepalive pings detect that the service or the network has vanished without closing the connection.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    # This timeout applies to the pings that gRPC sends for its own use. While much data arrives, one of them is under
    # way, and gRPC cannot send a keepalive ping until it is answered.
    ("grpc.http2.ping_timeout_ms", 10_000),
    # By default, gRPC waits up to two minutes before it connects again, and all attempts would fail in that time.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2_000),
)


def channel_options(options: Options) -> Options:
    """Returns the options of this package together with those of the caller, which take precedence."""
    return [*(dict(_OPTIONS) | dict(options)).items()]


def is_this_machine(target: str) -> bool:
    """Returns whether nothing that is sent to the target leaves this machine."""
    scheme, _, rest = target.partition(":")
    if scheme in {"unix", "unix-abstract"}:
        return True
    address = rest.rpartition("/")[2] if scheme in {"dns", "ipv4", "ipv6"} else target
    host = _host(unquote(address))
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _host(address: str) -> str:
    """Returns the host of an address of the form "host", "host:port", "[v6]:port" or "v6"."""
    if address.startswith("["):
        return address[1:].partition("]")[0]
    host, colon, port = address.rpartition(":")
    return host if colon and ":" not in host and port.isdigit() else address
