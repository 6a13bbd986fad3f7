"""The sentences of the embedded chat model, which `templates.toml` holds, and the forms of names, quotes and references
in its answers."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources

from proviso_service.embedded.chat.phrases import Intent
from proviso_service.embedded.sentences import one_line, opening_of
from proviso_service.language import ENGLISH
from proviso_service.tool_results import DocumentList, FailedDocument, FoundPassage

_MAX_NAME_CHARS = 255
_MAX_LISTED = 30
_STRAIGHT = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"'})


def name(text: str) -> str:
    """Writes a file name or a heading on one line. Its quotation marks become straight, because curly ones mark
    quotes."""
    return one_line(text.translate(_STRAIGHT), _MAX_NAME_CHARS)


def place(passage: FoundPassage) -> str:
    """Writes where a passage is from: `Lease.pdf (4. Rent)`."""
    heading = name(passage.heading.lstrip("# "))
    return f"{name(passage.filename)} ({heading})" if heading else name(passage.filename)


def quote(text: str, ref: int | None) -> str:
    """Writes `“text” [ref]`. Double quotation marks in the text become straight, so that the end of the quote is
    clear."""
    return f"“{text.translate(_STRAIGHT)}”{reference(ref)}"


def quoted_opening(passage: FoundPassage) -> str:
    """Quotes the first sentences of a passage."""
    return quote(opening_of(passage.text, passage.heading), passage.ref)


def reference(ref: int | None) -> str:
    return "" if ref is None else f" [{ref}]"


def said(key: str, language: str = ENGLISH, **parts: object) -> str:
    """Returns a sentence of the answers in the language of the question, in English where there is none of it. `parts`
    are put into its places."""
    ways = _templates()[key]
    return ways.get(language, ways[ENGLISH]).format(**parts)


def is_said(key: str, text: str) -> bool:
    """Tells whether a text has a sentence of the answers, in whatever language."""
    return any(way in text for way in _templates()[key].values())


def fixed_answer(intent: Intent) -> str:
    """Returns the answer to what needs no document, such as a greeting."""
    return said(intent.value, can=said("can"))


@cache
def _templates() -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads(resources.files(__package__).joinpath("templates.toml").read_text("utf-8"))


def bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def joined(names: Sequence[str]) -> str:
    """Joins names as `A`, `A and B` or `A, B and C`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def not_analysed(documents: Sequence[FailedDocument], language: str = ENGLISH) -> str:
    """Writes the paragraph that names the documents, each with the reason; it is empty when there are none."""
    names = [_with_reason(one) for one in documents]
    return "\n\n" + said("not_analysed", language, where=joined(names)) if names else ""


def _with_reason(document: FailedDocument) -> str:
    """Writes `Lease.pdf (still being processed; try again shortly)`."""
    called = document.filename or document.document_id
    reason = name(document.error.removeprefix(called).strip().removeprefix("is ").rstrip("."))
    return f"{name(called)} ({reason})" if reason else name(called)


def document_lines(listing: DocumentList) -> str:
    """Lists documents with the states of those that are not ready, and counts those that are not shown."""
    shown = listing.documents[:_MAX_LISTED]
    lines = [
        name(one.filename) + ("" if one.is_ready else f" ({name(one.processing_status.lower())})") for one in shown
    ]
    more = listing.total_count - len(shown)
    return bullets([*lines, said("and_more", count=more)] if more > 0 else lines)
