"""The catalog's items as selection sees them."""

from collections.abc import Iterable
from typing import Protocol

from proviso_service.context.model import IncludeMode, ItemRef, SessionItem


class Candidate(Protocol):
    """An item of the catalog. `include_mode` is the effective one; a higher `priority` comes first; `content_sha256` is
    in hexadecimal, `size_bytes` are of description and content in UTF-8."""

    @property
    def ref(self) -> ItemRef: ...

    @property
    def description(self) -> str: ...

    @property
    def content(self) -> str: ...

    @property
    def content_sha256(self) -> str: ...

    @property
    def size_bytes(self) -> int: ...

    @property
    def priority(self) -> int: ...

    @property
    def include_mode(self) -> IncludeMode: ...

    @property
    def enabled(self) -> bool: ...


def agent_candidates(items: Iterable[Candidate], session_items: Iterable[SessionItem]) -> list[Candidate]:
    """Enabled items of mode agent that are not in the session, in order (the design's getAgentModeItems)."""
    in_session = {item.ref for item in session_items}
    return [
        item for item in items if item.include_mode is IncludeMode.AGENT and item.enabled and item.ref not in in_session
    ]
