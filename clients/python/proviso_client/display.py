"""This module writes request contexts, citations and values of enums as plain text for people.

Its functions take messages and have no side effects. The names in the messages come from catalogs, servers and users.
The functions replace line breaks in a name by spaces, but keep other control characters. A program that writes to a
terminal has to remove those itself.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from google.protobuf.message import Message

from proviso_client.v1 import chat_pb2
from proviso_client.v1 import context_pb2 as pb

NO_CONTEXT = "No context data available"
"""This text is shown for a message that has no request context."""
NO_ITEMS = "No context items"
"""This text is shown for a request context without items, for example when a turn did not call the model."""

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
"""Maps each include mode to its word. The summary line lists the modes in this order."""
_OMISSIONS = {
    pb.OMISSION_REASON_BELOW_THRESHOLD: "not similar enough to the message",
    pb.OMISSION_REASON_BUDGET: "better items took the room",
    pb.OMISSION_REASON_SEARCH_FAILED: "the search for items failed",
    pb.OMISSION_REASON_DISABLED: "disabled in the catalog",
}
_ASSETS = {pb.ASSET_KIND_DOCUMENT: "Document", pb.ASSET_KIND_IMAGE: "Image"}


def enum_name(message: Message, field: str) -> str:
    """Returns the name of an enum field's value without the prefix of its type, such as "COMPLETED".

    Returns the number as text when the value is newer than this client. Raises ValueError for a field that is no
    enum, or that the message does not have."""
    descriptor = message.DESCRIPTOR.fields_by_name.get(field)
    if descriptor is None or descriptor.enum_type is None or descriptor.is_repeated:
        raise ValueError(f"{message.DESCRIPTOR.name} has no enum {field!r}")
    number = getattr(message, field)
    values = descriptor.enum_type.values_by_number
    prefix = values[0].name.removesuffix("UNSPECIFIED")
    return values[number].name.removeprefix(prefix) if number in values else str(number)


def summary_line(context: pb.RequestContext | None) -> str:
    """Counts the items by type and include mode, as in "5 rules (3 agent, 2 always), 3 tools (all manual)".

    Returns NO_ITEMS when the context has no items, and NO_CONTEXT when the context is None."""
    if context is None:
        return NO_CONTEXT
    groups = ((word, [item for item in context.items if item.type == kind]) for kind, _, word in _GROUPS)
    return ", ".join(_counted(word, items) for word, items in groups if items) or NO_ITEMS


def context_text(context: pb.RequestContext | None) -> str:
    """Returns a list of the items, grouped by type, that shows how each item came into the request.

    An item that the model was not given has a note that says why. Returns NO_CONTEXT when the context is None."""
    if context is None:
        return NO_CONTEXT
    groups = ((title, [item for item in context.items if item.type == kind]) for kind, title, _ in _GROUPS)
    sections = [_section(title, map(_item_line, items)) for title, items in groups if items]
    return "Context Used:\n" + ("\n\n".join(sections) or NO_ITEMS)


def details_text(context: pb.RequestContext | None) -> str:
    """Returns the details that `context_text` does not show, in sections of the same form.

    The sections list the items that the answer used, the items that were left out and why, the documents and images,
    the matter, and how full the context is. Returns an empty string when the context is None."""
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


def citation_text(citation: chat_pb2.Citation) -> str:
    """Returns the number of a citation and its source, such as "[1] lease.md, 4. Rent, page 2".

    The source is a place in a document, a tool, a reference, or an asset. A citation whose number is 0 begins with a
    bullet, because its answer names or quotes the source without a number."""
    return f"{f'[{citation.number}]' if citation.number else '•'} {_source(citation)}"


def _source(citation: chat_pb2.Citation) -> str:
    name = _one_line(citation.name)
    match citation.kind:
        case chat_pb2.CITATION_KIND_TOOL_CALL:
            server = _one_line(citation.server_name)
            return f"{server}:{name.removeprefix(f'{server}__')}" if server else name  # the model knows server__tool
        case chat_pb2.CITATION_KIND_REFERENCE:
            return f"Reference {name}"
    page = f"page {citation.page}" if citation.page else ""
    return ", ".join(part for part in (_one_line(citation.filename), _one_line(citation.heading), page) if part)


def item_name(item: pb.RequestContextItem | pb.ContextItemRef) -> str:
    """Returns the name of an item. The name of a tool has the form `server:name`."""
    name = _one_line(item.name)
    return f"{_one_line(item.server_name)}:{name}" if item.type == pb.CONTEXT_ITEM_TYPE_TOOL else name


def _counted(word: str, items: Sequence[pb.RequestContextItem]) -> str:
    """Returns the number of items of one type and their include modes, such as "2 references (1 agent, 1 manual)".

    When all items have the same mode, the text is shorter, such as "3 tools (all manual)" or "1 rule (always)"."""
    counts = Counter(_mode(item) for item in items)
    how = ", ".join(f"{counts[mode]} {mode}" for mode in _MODES.values() if counts[mode])
    if len(items) == 1:
        return f"1 {word} ({_mode(items[0])})"
    if len(counts) == 1:
        how = f"all {_mode(items[0])}"
    return f"{len(items)} {word}s ({how})"


def _section(title: str, lines: Iterable[str], *, counted: bool = True) -> str:
    """Returns the title with a bullet for each line, or an empty string when there are no lines."""
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
    """Returns how much is used and, when it is known, the limit. Returns an empty string when both numbers are 0."""
    if limit:
        return f"{of}: {used:,} of {limit:,} {unit}"
    return f"{of}: {used:,} {unit}" if used else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())
