"""Client of Proviso, a service that answers questions about legal matters.

`Client` and `AsyncClient` have the same surface. `proviso_client.v1` holds the messages and stubs of the contract,
`proviso_client.errors` the exceptions and `proviso_client.steps` the steps of a turn; `proviso_client.display` and
`proviso_client.history` write request contexts and messages as text.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proviso_client._aio.client import AsyncClient
    from proviso_client._aio.turn import AsyncTurn
    from proviso_client._credentials import AccessToken, TlsCredentials
    from proviso_client._retrying import NO_RETRIES, RetryPolicy
    from proviso_client._sync.client import Client
    from proviso_client._sync.turn import Turn
    from proviso_client.errors import ProvisoError

__all__ = [
    "NO_RETRIES",
    "AccessToken",
    "AsyncClient",
    "AsyncTurn",
    "Client",
    "ProvisoError",
    "RetryPolicy",
    "TlsCredentials",
    "Turn",
]

_HOMES = {
    "AccessToken": "proviso_client._credentials",
    "AsyncClient": "proviso_client._aio.client",
    "AsyncTurn": "proviso_client._aio.turn",
    "Client": "proviso_client._sync.client",
    "NO_RETRIES": "proviso_client._retrying",
    "ProvisoError": "proviso_client.errors",
    "RetryPolicy": "proviso_client._retrying",
    "TlsCredentials": "proviso_client._credentials",
    "Turn": "proviso_client._sync.turn",
}


def __getattr__(name: str) -> Any:
    """Loaded when they are asked for: a program that reads messages alone need not wait for gRPC."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
