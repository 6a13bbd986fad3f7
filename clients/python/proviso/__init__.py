"""Client of Proviso, a service that answers questions about legal matters.

`Client` and `AsyncClient` have the same surface; `proviso.v1` holds the messages and stubs of the contract,
`proviso.errors` the exceptions, `proviso.steps` the steps of a turn, `proviso.display` and `proviso.history` write
request contexts and messages as text.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proviso._aio.client import AsyncClient
    from proviso._aio.turn import AsyncTurn
    from proviso._retrying import NO_RETRIES, RetryPolicy
    from proviso._sync.client import Client
    from proviso._sync.turn import Turn
    from proviso.errors import ProvisoError

__all__ = ["NO_RETRIES", "AsyncClient", "AsyncTurn", "Client", "ProvisoError", "RetryPolicy", "Turn"]

_HOMES = {
    "AsyncClient": "proviso._aio.client",
    "AsyncTurn": "proviso._aio.turn",
    "Client": "proviso._sync.client",
    "NO_RETRIES": "proviso._retrying",
    "ProvisoError": "proviso.errors",
    "RetryPolicy": "proviso._retrying",
    "Turn": "proviso._sync.turn",
}


def __getattr__(name: str) -> Any:
    """Loaded when they are asked for: a program that reads messages alone need not wait for gRPC."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
