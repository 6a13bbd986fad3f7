"""What processes that share a state tell one another, so that each brings up to date what it keeps in memory.

A notice only says where to look: what it is about is in the state that all share. It may therefore get lost, as long as
everything is looked at once processes can reach each other again."""

from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from typing import Any, Protocol

What = Mapping[str, Any]
"""The ids, states and counts that a notice names: values that JSON has, and nothing of what people wrote."""


class About(StrEnum):
    """What notices are about."""

    DOCUMENT = "document"
    """A document under way has come further, or was deleted."""

    WORK = "work"
    """A document waits for its ingestion."""

    TEXTS = "texts"
    """Texts of a large document are to be embedded, by whoever has time."""

    MATTER = "matter"
    """The documents of a matter are others than before."""

    CATALOG = "catalog"
    """The folder of the agent is to be read again."""

    DELETED = "deleted"
    """Turns, or what a tenant had, are deleted."""


Heard = Callable[[What], Awaitable[None]]
"""Does what a notice asks for."""

Missed = Callable[[], Awaitable[None]]
"""Looks at everything that notices may have been about."""


class Notices(Protocol):
    """Notices from and to the other processes. Call inside the event loop."""

    def tell(self, about: About, **what: Any) -> None:
        """Tells all other processes, as soon as they can be reached; returns at once and never fails. Where it was not
        possible for a while, they are told that they have missed something."""
        ...

    def hear(self, about: About, heard: Heard, missed: Missed) -> None:
        """Hands on what other processes tell from now on, one notice after the other, and calls `missed` where some may
        have got lost. Failures are logged."""
        ...


class NoOthers:
    """The notices of a process that shares its state with no other."""

    def tell(self, about: About, **what: Any) -> None:
        pass

    def hear(self, about: About, heard: Heard, missed: Missed) -> None:
        pass


ALONE = NoOthers()

OWNER_ALONE = "embedded"
"""The name of a process that shares its state with no other, as the owner of turns and claims. Locks make it the only
one, so that it may go on at once with what an earlier process has left."""
