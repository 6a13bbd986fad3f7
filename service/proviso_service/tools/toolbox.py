"""Every tool that there is, by its context item."""

from collections.abc import Iterable

from proviso_service.context.model import ItemRef
from proviso_service.tools.base import Tool
from proviso_service.tools.registry import item_of


class Toolbox:
    """The service's own tools."""

    def __init__(self, own: Iterable[Tool]) -> None:
        self._own = {item_of(tool): tool for tool in own}

    def find(self, ref: ItemRef) -> Tool | None:
        return self._own.get(ref)
