"""How names, quotes and references are written."""

from collections.abc import Iterable, Sequence

from proviso_service.embedded.chat.evidence import Listing, NotAnalysed, Passage
from proviso_service.embedded.chat.lexical import one_line

_MAX_NAME_CHARS = 160
_MAX_LISTED = 30
_STRAIGHT = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"'})


def name(text: str) -> str:
    """A filename or heading on one line; curly quotes are kept for quotations."""
    return one_line(text.translate(_STRAIGHT), _MAX_NAME_CHARS)


def place(passage: Passage) -> str:
    """`Lease.pdf (4. Rent)`."""
    heading = name(passage.heading.lstrip("# "))
    return f"{name(passage.filename)} ({heading})" if heading else name(passage.filename)


def quote(text: str, ref: int | None) -> str:
    """`“text” [ref]`; double quotes inside are straight, so that the end of the quote is clear."""
    return f"“{text.translate(_STRAIGHT)}”{reference(ref)}"


def reference(ref: int | None) -> str:
    return "" if ref is None else f" [{ref}]"


def bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def joined(names: Sequence[str]) -> str:
    """`A`, `A and B`, `A, B and C`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def not_analysed(documents: Sequence[NotAnalysed]) -> str:
    """The paragraph that names them; empty when there are none."""
    names = [name(one.filename or one.document_id) for one in documents]
    return f"\n\nNot analysed: {joined(names)}." if names else ""


def document_lines(listing: Listing) -> str:
    """The documents of a listing with what is not ready, and how many are not shown."""
    shown = listing.documents[:_MAX_LISTED]
    lines = [
        name(one.filename) + ("" if one.is_ready else f" ({name(one.processing_status.lower())})") for one in shown
    ]
    more = listing.total_count - len(shown)
    return bullets([*lines, f"and {more} more"] if more > 0 else lines)
