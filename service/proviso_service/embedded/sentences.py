"""Cuts passages into sentences as people quote them: pieces with the list that they open, without titles and marks. A
sentence is a verbatim part of its passage, but for collapsed white space and the marks of Markdown, which are taken
out."""

import re

from proviso_service.embedded.pieces import Piece, pieces_of

MAX_QUOTE_CHARS = 600
_MIN_SENTENCE_CHARS = 12
_MAX_OPENING_CHARS = 500
_MAX_SHORT_WORDS = 4

_SPACE = re.compile(r"\s+")
_MARKUP = re.compile(
    r"^#{1,6} +|\*\*|(?<![\w*])\*(?=\w)|(?<=[\w.,;:!?])\*(?![\w*])|</?[A-Za-z][^<>\n]{0,200}>"
    r"|<[A-Za-z/][^<>]{0,200}\Z",
    re.MULTILINE,
)
_NUMBER_BEFORE = re.compile(r"^\d{1,2}\.(?=[A-Z])")
_HEADING_LINE = re.compile(r"^[ \t]*#{1,6}[ \t][^\n]*$", re.MULTILINE)
_NUMBER = re.compile(r"^(?:(?:section|article|clause)\s+)?[\divxlc]+(?:\.\d+)*[.)]?\s+", re.IGNORECASE)
_ITEM = re.compile(r"^\s*(?:[-*•]\s|\(?[a-z]{1,4}[.)]\s|[a-z])")
_OPENS_PARTIES = re.compile(r"\b(?:between|among):\s*$|\b(?:between|among):\s.*;\s*and\s*$", re.DOTALL)
_OPENS_LIST = re.compile(r"[:;,]\s*(?:and|or)?\s*$")
ENDS = re.compile(r"[.;:!?][\"\u201d\u2019)\]]*$")
_TAIL = re.compile(r"\s*(?:…|\.\.\.)\s*$")


def one_line(text: str, max_chars: int | None = None) -> str:
    """Collapses white space, and cuts the text at the end of a word to at most `max_chars`."""
    line = _SPACE.sub(" ", text).strip()
    if max_chars is None or len(line) <= max_chars:
        return line
    head, space, _ = line[: max_chars + 1].rpartition(" ")
    return head if space else line[:max_chars]


def plain(text: str) -> str:
    """Takes out the marks of headings and of emphasis and inline HTML, none of which belongs into a quote."""
    return _MARKUP.sub("", text)


def unnumbered(item: str) -> str:
    """Takes off the number of an item that no space follows."""
    return _NUMBER_BEFORE.sub("", item)


def body(text: str) -> str:
    """Returns a text without headings and marks."""
    return plain(_HEADING_LINE.sub("\n", text))


def sentences(text: str, heading: str = "") -> list[Piece]:
    """Returns the sentences of a text without marks in order, on one line each, with the list that it introduces where
    that is short, and without marks of a cut at the end. Titles are left out."""
    found: list[Piece] = []
    for piece in pieces_of(text):
        start = found[-1].start if found and _goes_on(text, found[-1], piece) else piece.start
        del found[len(found) - (start < piece.start) :]
        found.append(Piece(start, piece.end, _TAIL.sub("", unnumbered(one_line(text[start : piece.end])))))
    return [one for one in found if len(one.text) >= _MIN_SENTENCE_CHARS and not is_title(one.text, heading)]


def split_sentences(text: str, heading: str = "") -> list[str]:
    """Returns the sentences of a passage."""
    return [one.text for one in sentences(body(text), heading)]


def opening_of(text: str, heading: str) -> str:
    """Returns the first sentences of a passage, as many as fit into a short quote."""
    sentences = split_sentences(text, heading)
    whole = one_line(plain(text))
    best = sentences[0] if sentences else whole
    for count in range(2, len(sentences) + 1):
        longer = " ".join(sentences[:count])
        if len(longer) > _MAX_OPENING_CHARS or longer not in whole:
            break
        best = longer
    return best


def is_title(piece: str, heading: str) -> bool:
    """Tells whether a piece names a subject and states nothing: it is the heading of its passage, or reads like one, or
    is a few words without a full stop."""
    bare = _bare(piece)
    if bare and f" {bare} " in f" {_bare(heading)} ":
        return True
    if Piece(0, 0, piece).is_title:
        return piece.isupper() or (not re.search(r"\d", bare) and not re.search(r":\s+\S", piece))
    return len(bare.split()) <= _MAX_SHORT_WORDS and not ENDS.search(piece)


def _bare(title: str) -> str:
    """Returns the words of a title without its number, marks and capitals."""
    return " ".join(re.findall(r"\w+", _NUMBER.sub("", plain(title).lstrip("#* ")).lower()))


def _goes_on(text: str, before: Piece, piece: Piece) -> bool:
    """Tells whether a piece is an item of the list that the one before it introduces, or a party of `made between:`,
    and fits into its quote."""
    opened = text[before.start : before.end]
    is_item = _OPENS_LIST.search(opened) and _ITEM.match(text[before.end : piece.end])
    return bool(_OPENS_PARTIES.search(opened) or is_item) and piece.end - before.start <= MAX_QUOTE_CHARS


def paragraphs(text: str) -> list[str]:
    """Returns the paragraphs of a text with collapsed white space, without empty ones."""
    found = (_TAIL.sub("", one_line(part)) for part in re.split(r"\n\s*\n|\n(?=\s*(?:[-*#•]|\d))", plain(text)))
    return [part for part in found if any(char.isalnum() for char in part)]


def is_whole(sentence: str) -> bool:
    """Tells whether a sentence or item neither begins nor ends amid another, and is not a title."""
    is_cut = sentence[:1].islower() or not ENDS.search(sentence)
    return not is_cut and len(sentence.split()) > _MAX_SHORT_WORDS
