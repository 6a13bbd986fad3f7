"""Which items of a request its answer used."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from proviso_service.context.model import ItemRef, ItemType, RequestContext, RequestItem
from proviso_service.context.quotations import QuotableText, Quotation, quotations

_MAX_QUOTATIONS = 100
"""What is looked up of an answer, which may be anything."""


def with_cited(
    context: RequestContext, answer: str, called: Collection[ItemRef], contents: Mapping[str, str]
) -> RequestContext:
    """The context with `cited` set on each item that the answer used: a tool of `called`, and a reference that the
    answer names in square brackets (case does not matter) or quotes. `contents` are the texts of the references by
    their content_sha256; one that is not there can still be named. Nobody can tell it of a rule."""
    quotes = [Quotation.of(text) for text in islice(quotations(answer), _MAX_QUOTATIONS)]
    folded = _folded(answer)

    def is_cited(item: RequestItem) -> bool:
        if not item.is_given or item.ref.type is ItemType.RULE:
            return False
        if item.ref.type is ItemType.TOOL:
            return item.ref in called
        return f"[{_folded(item.ref.name)}]" in folded or _is_quoted(contents.get(item.content_sha256, ""), quotes)

    return replace(context, items=tuple(replace(item, cited=is_cited(item)) for item in context.items))


def _is_quoted(content: str, quotes: Sequence[Quotation]) -> bool:
    text = QuotableText(content)
    return any(text.holds(quote) for quote in quotes)


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
