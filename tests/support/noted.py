"""Notices between processes that are in one test."""

from typing import Any

from proviso_service.notices import About, Heard, Missed


class Noted:
    """Keeps what a process tells, and lets it hear what the test wants."""

    def __init__(self) -> None:
        self.told: list[tuple[About, dict[str, Any]]] = []
        self._ears: list[tuple[About, Heard, Missed]] = []

    def tell(self, about: About, **what: Any) -> None:
        self.told.append((about, what))

    def hear(self, about: About, heard: Heard, missed: Missed) -> None:
        self._ears.append((about, heard, missed))

    async def hears(self, about: About, **what: Any) -> None:
        """Another process tells this one something."""
        for one, heard, _ in self._ears:
            if one is about:
                await heard(what)

    async def misses(self) -> None:
        """Something may have been told that did not come here."""
        for _, _, missed in self._ears:
            await missed()
