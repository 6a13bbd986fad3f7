"""Fits results into a limited number of characters: as JSON that stays valid, and by cutting a passage to the part that
matches the query, so that more passages fit."""

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, TypeVar

from proviso_service.analysis.document_scoring import TargetDocument, check_ready
from proviso_service.errors import DocumentNotFound
from proviso_service.matters import Mark, UnsearchedDocument, best_excerpt, unread_error
from proviso_service.reading import MESSAGE_STOP_WORDS, WORD, Span, plain_words
from proviso_service.tool_results import FailedDocument
from proviso_service.tools.base import Rendered, SourcePassage

T = TypeVar("T")

MIN_TEXT_CHARS = 80


def to_json(payload: Any) -> str:
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":"))


def first_fitting(items: Sequence[T], max_chars: int) -> list[T]:
    """The first items that fit as JSON into `max_chars`, at least one."""
    kept: list[T] = []
    for item in items:
        max_chars -= len(to_json(item)) + 1
        if kept and max_chars < 0:
            break
        kept.append(item)
    return kept


def fair_share(room: int, waiting: int, frame: dict[str, Any], min_chars: int) -> int:
    """How many characters of text one item may show beside its `frame`, when as many are still `waiting`: an equal
    share of the `room`, or a larger one for fewer items where not all can have `min_chars`."""
    around = len(to_json(frame)) + 1
    return room // max(1, min(waiting, room // (around + min_chars))) - around


def fit_list(payload: dict[str, Any], key: str, max_chars: int, text_key: str | None = None) -> Rendered:
    """Writes `payload` as JSON of at most `max_chars`. Where it is longer, items are dropped from the end of
    `payload[key]`, and the last one left has its `text_key` cut. Counts in the payload stay those of the whole result;
    `truncated` is set in it."""
    items = list(payload[key])
    text = to_json(payload | {"truncated": False})
    if len(text) <= max_chars:
        return Rendered(text, False)
    while len(items) > 1 and len(_with(payload, key, items)) > max_chars:
        items.pop()
    if text_key and items:
        items[0] = _cut(payload, key, items, text_key, max_chars)
    elif items and len(_with(payload, key, items)) > max_chars:
        items.pop()
    return Rendered(_with(payload, key, items), True)


def fitting_length(payload: dict[str, Any], key: str, max_chars: int) -> int:
    """How many code points of the text `payload[key]` fit into `max_chars`; of a longer text at least
    MIN_TEXT_CHARS."""
    text: str = payload[key]
    if len(to_json(payload)) <= max_chars:
        return len(text)
    length = len(text)
    # JSON escapes make a text longer than its code points, so cut by what is over and look again.
    while length > MIN_TEXT_CHARS:
        over = len(to_json(payload | {key: text[:length], "truncated": True})) - max_chars
        if over <= 0:
            break
        length = max(MIN_TEXT_CHARS, length - over)
    return length


def _with(payload: dict[str, Any], key: str, items: list[dict[str, Any]]) -> str:
    return to_json(payload | {key: items, "truncated": True})


def _cut(
    payload: dict[str, Any], key: str, items: list[dict[str, Any]], text_key: str, max_chars: int
) -> dict[str, Any]:
    first = items[0]
    text: str = first[text_key]
    length = len(text)
    while (over := len(_with(payload, key, [first | {text_key: text[:length]}, *items[1:]])) - max_chars) > 0:
        if length <= MIN_TEXT_CHARS:
            break
        length = max(MIN_TEXT_CHARS, length - over)
    return first | {text_key: text[:length]}


MAX_ERRORS_SHOWN = 3


def error_of(target: TargetDocument | UnsearchedDocument) -> FailedDocument:
    return FailedDocument(document_id=target.document_id, filename=target.filename, error=target.error)


def check_any_read(asked: Collection[str], unread: Sequence[TargetDocument | UnsearchedDocument]) -> None:
    """Raises what is wrong with the `unread` documents, for a tool that could read none: neither of those `asked`
    about, by their ids, nor of the matter where there are none. An empty result would say that they hold nothing."""
    known = [one.document for one in unread if one.document]
    if not asked:
        check_ready(known)
    elif known:
        still = next((one for one in known if not one.status.is_final), known[0])
        raise unread_error(still)
    else:
        raise DocumentNotFound(unread[0].document_id, "The tool list_matter_documents names the documents.")


MIN_EXCERPT_CHARS = 240

_STEM_CHARS = 6
_MIN_WORD_CHARS = 3


def stems_of(query: str) -> frozenset[str]:
    """The words of a query, each cut to its first letters so that different forms of a word match. Words of grammar are
    left out."""
    words = (word for word in plain_words(query) if len(word) >= _MIN_WORD_CHARS and word not in MESSAGE_STOP_WORDS)
    return frozenset(word[:_STEM_CHARS] for word in words)


def best_part(text: str, stems: frozenset[str], max_chars: int) -> Span:
    """The part of a text, of at most `max_chars` code points, that contains the most of `stems`. It consists of whole
    sentences where they fit."""
    if len(text) <= max_chars:
        return Span(0, len(text))
    return best_excerpt(text, list(_marks(text, stems)), max_chars)


def part_around(text: str, span: Span, stems: frozenset[str], max_chars: int) -> Span:
    """The part of a text, of at most `max_chars` code points, that contains `span`. Where that is longer, it is its
    beginning, which says who must do what, or the part with the most of `stems` where that has over twice as many."""
    if span.end - span.start <= max_chars:
        return best_excerpt(text, [Mark(span, "")], max_chars)
    whole = text[span.start : span.end]
    best = best_part(whole, stems, max_chars)
    last = max(whole.rfind(space, 0, max_chars + 1) for space in " \n\t")
    beginning = Span(0, last if last > 0 else max_chars)
    held, most = (len(stems & stems_of(whole[one.start : one.end])) for one in (beginning, best))
    part = best if best.start == 0 or most > 2 * held else beginning
    return Span(span.start + part.start, span.start + part.end)


def json_length(text: str) -> int:
    """The length of a text as JSON in code points, without its quotation marks."""
    return len(to_json(text)) - 2


def excerpt_of(
    passage: SourcePassage,
    choose: Callable[[int], Span],
    max_chars: int,
    min_chars: int = MIN_EXCERPT_CHARS,
    *,
    length_of: Callable[[str], int] = json_length,
) -> SourcePassage | None:
    """The part of a passage that `choose` returns for a number of code points. By `length_of` it is at most `max_chars`
    long when written; None where it would have to be shorter than `min_chars`."""
    limit = max_chars
    while limit >= min(min_chars, len(passage.text)):
        span = choose(limit)
        text = passage.text[span.start : span.end]
        over = length_of(text) - max_chars
        if over <= 0:
            return passage.part(span)
        limit -= over  # escapes and indents make a text longer than its code points
    return None


def _marks(text: str, stems: frozenset[str]) -> Iterator[Mark]:
    for match in WORD.finditer(text):
        stem = match[0].lower()[:_STEM_CHARS]
        if stem in stems:
            yield Mark(Span(*match.span()), stem)
