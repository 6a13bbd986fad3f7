"""The labelled catalog and messages of selection.toml."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.data import is_held_out
from proviso_service.context.catalog.items import CatalogItem, EffectiveMode, IncludeModeSource
from proviso_service.context.model import IncludeMode, ItemRef, ItemType

LABELLED = Path(__file__).with_name("selection.toml")


ENGLISH = "English"


@dataclass(frozen=True, slots=True)
class Message:
    """A message, and the items that should be selected for it, which may be none. `group` says of which kind it is: a
    language, or short."""

    text: str
    wanted: frozenset[ItemRef]
    group: str = ENGLISH

    @property
    def is_held_out(self) -> bool:
        return is_held_out("message", self.text)


@dataclass(frozen=True, slots=True)
class Labelled:
    items: Sequence[CatalogItem]
    messages: Sequence[Message]

    def half(self, *, held_out: bool) -> Sequence[Message]:
        """One half of the English messages, with which the settings were chosen."""
        return [one for one in self.messages if one.group == ENGLISH and one.is_held_out is held_out]

    def groups(self) -> dict[str, Sequence[Message]]:
        """All messages by their group."""
        names = dict.fromkeys(message.group for message in self.messages)
        return {name: [message for message in self.messages if message.group == name] for name in names}


def load_labelled(path: Path = LABELLED) -> Labelled:
    """Loads the catalog and the messages. Raises KeyError for a message that names an item which is not in the
    catalog."""
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    items = [_item(entry) for entry in content["items"]]
    refs = {item.ref.name: item.ref for item in items}
    messages = [
        Message(entry["text"], frozenset(refs[name] for name in entry["items"]), entry.get("group", ENGLISH))
        for entry in content["messages"]
    ]
    return Labelled(items, messages)


def _item(entry: dict[str, str]) -> CatalogItem:
    ref = ItemRef(ItemType(entry["type"]), entry["name"], entry.get("server_name", ""))
    return agent_item(ref, entry["description"], entry["content"])


def agent_item(ref: ItemRef, description: str, content: str) -> CatalogItem:
    """An item that is selected for a request by the request's message."""
    return CatalogItem.of(ref, description, content, EffectiveMode(IncludeMode.AGENT, IncludeModeSource.ITEM))
