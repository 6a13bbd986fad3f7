"""Contents cut into pieces that an embedding model reads whole, along paragraphs and sentences."""

import re
from collections.abc import Iterator

# No two repetitions side by side take the same characters, so that no text makes cutting slow.
_PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n\s*")
_SENTENCE_END = re.compile(r"(?<=[.!?;:])\s+|\n\s*")
_SPACE = re.compile(r"\s+")


def chunks(text: str, max_chars: int) -> list[str]:
    """Pieces of at most `max_chars` code points with single spaces, none of them empty, which hold all words in order.
    A piece never goes over a paragraph's end; a sentence is cut, between words where it can be, only if it is too long
    itself."""
    found: list[str] = []
    for paragraph in _PARAGRAPH_END.split(text):
        found += _joined(_sentences(paragraph, max_chars), max_chars)
    return found


def _sentences(paragraph: str, max_chars: int) -> Iterator[str]:
    for sentence in _SENTENCE_END.split(paragraph):
        yield from _cut(_SPACE.sub(" ", sentence).strip(), max_chars)


def _cut(sentence: str, max_chars: int) -> Iterator[str]:
    start = 0
    while len(sentence) - start > max_chars:
        space = sentence.rfind(" ", start + 1, start + max_chars + 1)
        end = space if space > start else start + max_chars
        yield sentence[start:end]
        start = end + (end == space)
    if start < len(sentence):
        yield sentence[start:]


def _joined(sentences: Iterator[str], max_chars: int) -> Iterator[str]:
    piece = ""
    for sentence in sentences:
        if piece and len(piece) + 1 + len(sentence) > max_chars:
            yield piece
            piece = sentence
        else:
            piece = f"{piece} {sentence}" if piece else sentence
    if piece:
        yield piece
