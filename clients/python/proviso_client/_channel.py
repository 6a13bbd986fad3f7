"""What channels to the service have in common."""

import ipaddress
from collections.abc import Sequence
from urllib.parse import unquote

Options = Sequence[tuple[str, str | int]]

_OPTIONS: Options = (
    # Finds out that the service, or the way to it, has vanished without closing the connection.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    # The same for gRPC's own pings, one of which is under way while much is received, and keeps others from being sent.
    ("grpc.http2.ping_timeout_ms", 10_000),
    # gRPC's own wait before it connects again grows to two minutes, which attempts would spend in vain.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2_000),
)


def channel_options(options: Options) -> Options:
    """Those of this package, where the caller does not give others."""
    return [*(dict(_OPTIONS) | dict(options)).items()]


def check_plaintext(target: str, *, insecure: bool) -> None:
    """Raises ValueError for a target on another machine, unless it is allowed to be reached without TLS."""
    if not insecure and not _is_this_machine(target):
        raise ValueError(
            f"{target} is not on this machine: give credentials, as grpc.ssl_channel_credentials(), or allow a "
            "connection without encryption by insecure=True"
        )


def _is_this_machine(target: str) -> bool:
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
    """Of "host", "host:port", "[v6]:port" and "v6"."""
    if address.startswith("["):
        return address[1:].partition("]")[0]
    host, colon, port = address.rpartition(":")
    return host if colon and ":" not in host and port.isdigit() else address
