"""Cuts passages into quotable pieces. Every piece is a verbatim part of the passage with its white space collapsed."""

import re

from proviso_service.models.local.chat.lexical import one_line

MAX_QUOTE_CHARS = 450
MIN_SENTENCE_CHARS = 12

_ABBREVIATION = re.compile(
    r"(?:\b(?:Inc|Ltd|Co|Corp|No|Nos|Sec|Art|Mr|Mrs|Ms|Dr|St|vs?|e\.g|i\.e|etc|approx|cf|para|L\.P|U\.S|U\.K)|\b[A-Z]"
    r"|(?:^|[\s(])\d+(?:\.\d+)*|\b[ivxlc]+)\.$",
    re.IGNORECASE,
)
_BREAK = re.compile(
    r"(?<=[.?!])[\"”\u2019)*_]*\s+(?=[\"“\u2018(\[*_#]*[A-Z0-9])|\n\s*\n|\n(?=\s*(?:[-*#•]|\(?[a-z0-9]{1,4}[.)]\s))|(?<=;)\s*\n"
)
_LIST_MARK = re.compile(r"^(?:[#>\-*•]+\s+|\(?[a-z0-9]{1,3}(?:\.\d+)*[.)]\s+(?=\S))+", re.IGNORECASE)
_TAIL = re.compile(r"\s*(?:…|\.\.\.)\s*$")


def split_sentences(text: str) -> list[str]:
    """Sentences and list items in order; what is shorter than a statement is left out."""
    pieces: list[str] = []
    start = 0
    for found in _BREAK.finditer(text):
        before = text[start : found.end()].rstrip()
        if "\n" not in found.group() and _ABBREVIATION.search(before):
            continue
        pieces.append(text[start : found.end()])
        start = found.end()
    pieces.append(text[start:])
    tidy = (tidy_piece(piece) for piece in pieces)
    return [piece for piece in tidy if len(piece) >= MIN_SENTENCE_CHARS]


def tidy_piece(piece: str) -> str:
    """White space collapsed, list marks in front and marks of a cut at the end taken off."""
    return _TAIL.sub("", _LIST_MARK.sub("", one_line(piece)))


def paragraphs(text: str) -> list[str]:
    """The text's paragraphs, white space collapsed, empty ones left out."""
    found = (_TAIL.sub("", one_line(part)) for part in re.split(r"\n\s*\n|\n(?=\s*(?:[-*#•]|\d))", text))
    return [part for part in found if any(char.isalnum() for char in part)]


def excerpt(sentence: str, evidence: re.Pattern[str] | None = None, max_chars: int = MAX_QUOTE_CHARS) -> str:
    """A part of a long sentence that holds the first match of `evidence`, from the start of a clause."""
    if len(sentence) <= max_chars:
        return sentence
    found = evidence.search(sentence) if evidence else None
    if found is None or found.end() <= max_chars:
        return one_line(sentence, max_chars)
    clause = max(sentence.rfind(mark, 0, found.start()) for mark in (";", ",", ":", "."))
    start = clause + 1 if found.end() - clause <= max_chars else found.start()
    return one_line(sentence[start:], max_chars)
