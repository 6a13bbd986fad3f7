"""Request contexts as people read them: pure functions from messages to plain text.

Names come from catalogs, servers and users. Line breaks in them are taken out, other control characters are not: a
program that writes to a terminal has to do that.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from proviso_client.v1 import context_pb2 as pb

NO_CONTEXT = "No context data available"
"""Stands for a message without a request context."""
NO_ITEMS = "No context items"
"""Stands for a request context without items, as of a turn in which the model was not called."""

_GROUPS = (
    (pb.CONTEXT_ITEM_TYPE_RULE, "Rules", "rule"),
    (pb.CONTEXT_ITEM_TYPE_REFERENCE, "References", "reference"),
    (pb.CONTEXT_ITEM_TYPE_TOOL, "Tools", "tool"),
)
_TYPES = {item_type: word for item_type, _, word in _GROUPS}
_MODES = {
    pb.INCLUDE_MODE_AGENT: "agent",
    pb.INCLUDE_MODE_ALWAYS: "always",
    pb.INCLUDE_MODE_MANUAL: "manual",
    pb.INCLUDE_MODE_UNSPECIFIED: "unknown",
}
"""In the order of the summary line."""
_OMISSIONS = {
    pb.OMISSION_REASON_BELOW_THRESHOLD: "not similar enough to the message",
    pb.OMISSION_REASON_BUDGET: "better items took the room",
    pb.OMISSION_REASON_SEARCH_FAILED: "the search for items failed",
    pb.OMISSION_REASON_DISABLED: "disabled in the catalog",
}
_ASSETS = {pb.ASSET_KIND_DOCUMENT: "Document", pb.ASSET_KIND_IMAGE: "Image"}


def summary_line(context: pb.RequestContext | None) -> str:
    """Counts by type and include mode: "5 rules (3 agent, 2 always), 3 tools (all manual)". NO_ITEMS where there are
    none, NO_CONTEXT for None."""
    if context is None:
        return NO_CONTEXT
    groups = ((word, [item for item in context.items if item.type == kind]) for kind, _, word in _GROUPS)
    return ", ".join(_counted(word, items) for word, items in groups if items) or NO_ITEMS


def context_text(context: pb.RequestContext | None) -> str:
    """The items by type, each with how it came into the request; NO_CONTEXT for None. A note follows where the model
    was not given an item."""
    if context is None:
        return NO_CONTEXT
    groups = ((title, [item for item in context.items if item.type == kind]) for kind, title, _ in _GROUPS)
    sections = [_section(title, map(_item_line, items)) for title, items in groups if items]
    return "Context Used:\n" + ("\n\n".join(sections) or NO_ITEMS)


def details_text(context: pb.RequestContext | None) -> str:
    """What `context_text` leaves out, in sections of the same form: what the answer used, the items that were left out
    and why, documents and images, the matter, and how full the context is. Empty for None."""
    if context is None:
        return ""
    sections = [
        _section("Used by the answer", (item_name(item) for item in context.items if item.cited)),
        _section("Left out", map(_omitted_line, context.omitted)),
        _section("Documents and images", map(_asset_line, context.assets)),
        _section("Matter", _matter_lines(context), counted=False),
        _section("Room", _fill_lines(context), counted=False),
    ]
    return "\n\n".join(section for section in sections if section)


def item_name(item: pb.RequestContextItem | pb.ContextItemRef) -> str:
    """The name of an item; of a tool `server:name`."""
    name = _one_line(item.name)
    return f"{_one_line(item.server_name)}:{name}" if item.type == pb.CONTEXT_ITEM_TYPE_TOOL else name


def _counted(word: str, items: Sequence[pb.RequestContextItem]) -> str:
    """ "2 references (1 agent, 1 manual)"; with one mode only, "3 tools (all manual)" and "1 rule (always)"."""
    counts = Counter(_mode(item) for item in items)
    how = ", ".join(f"{counts[mode]} {mode}" for mode in _MODES.values() if counts[mode])
    if len(items) == 1:
        return f"1 {word} ({_mode(items[0])})"
    if len(counts) == 1:
        how = f"all {_mode(items[0])}"
    return f"{len(items)} {word}s ({how})"


def _section(title: str, lines: Iterable[str], *, counted: bool = True) -> str:
    """A title with a bullet for each line; empty without lines."""
    bullets = [f"  • {line}" for line in lines]
    heading = f"{title} ({len(bullets)}):" if counted else f"{title}:"
    return "\n".join([heading, *bullets]) if bullets else ""


def _item_line(item: pb.RequestContextItem) -> str:
    score = f" - {item.similarity_score:.2f}" if item.HasField("similarity_score") else ""
    line = f"{item_name(item)} [{_mode(item).capitalize()}{score}]"
    if item.missing:
        return f"{line} (no longer in the catalog)"
    return f"{line} (not given: {_one_line(item.note)})" if item.note else line


def _mode(item: pb.RequestContextItem) -> str:
    return _MODES.get(item.include_mode, "unknown")


def _omitted_line(omitted: pb.OmittedContextItem) -> str:
    word = _TYPES.get(omitted.item.type, "item").capitalize()
    score = f" - {omitted.score:.2f}" if omitted.HasField("score") else ""
    return f"{item_name(omitted.item)} [{word}{score}] {_OMISSIONS.get(omitted.reason, 'left out')}"


def _asset_line(asset: pb.AssetUse) -> str:
    line = f"{_one_line(asset.name)} [{_ASSETS.get(asset.kind, 'Asset')}]"
    return line if asset.included else f"{line} not given: {_one_line(asset.note) or 'no reason is known'}"


def _matter_lines(context: pb.RequestContext) -> list[str]:
    matter = context.matter_context
    names = (matter.matter_name or matter.matter_id, matter.document_name or matter.document_id)
    return [_one_line(name) for name in names if name]


def _fill_lines(context: pb.RequestContext) -> list[str]:
    fill = context.fill
    lines = [
        _used("Conversation", fill.characters_used, fill.characters_limit, "characters"),
        _used("Conversation", fill.tokens_used, fill.tokens_limit, "tokens"),
        _used("Items", fill.item_characters, fill.item_characters_limit, "characters"),
        _used("Items", fill.item_tokens, fill.item_tokens_limit, "tokens, estimated"),
        "Nearly all of it is taken" if fill.near_limit else "",
    ]
    return [line for line in lines if line]


def _used(of: str, used: int, limit: int, unit: str) -> str:
    """Empty where neither is known."""
    if limit:
        return f"{of}: {used:,} of {limit:,} {unit}"
    return f"{of}: {used:,} {unit}" if used else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())
