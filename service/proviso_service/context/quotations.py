"""Quotations, and texts in which they are looked up however their markup and white space were retyped."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

# Typographic double and single quotation marks, and the no-break space.
_EQUIVALENT = str.maketrans("\u201c\u201d\u201e\u2018\u2019\u201a\u00a0", "\"\"\"''' ")
_SPACE = re.compile(r"\s+")
# Marks of Markdown that nobody reads out: of headings, of emphasis, and inline HTML tags.
_MARKUP = re.compile(
    r"^#{1,6} +|\*\*|(?<![\w*])\*(?=\w)|(?<=[\w.,;:!?])\*(?![\w*])|</?[A-Za-z][^<>\n]{0,200}>", re.MULTILINE
)
_QUOTED = re.compile(r"“([^“”]{12,})”")
_WORD = re.compile(r"\w{4,}")


class NormalisedText:
    """A text in which quotes are looked up: white space is one space, quotation marks are plain and markup is left out,
    as people retype them, and each character knows where it came from."""

    def __init__(self, text: str) -> None:
        characters: list[str] = []
        self._origin: list[int] = []
        for position, character in _without_markup(text.translate(_EQUIVALENT)):
            plain = " " if character.isspace() else character
            if plain == " " and characters and characters[-1] == " ":
                continue
            characters.append(plain)
            self._origin.append(position)
        self._plain = "".join(characters)

    def find(self, quote: str) -> tuple[int, int] | None:
        """Where `quote` stands in the original text, as (start, end), or None."""
        wanted = normalise(quote)
        if not wanted:
            return None
        at = self._plain.find(wanted)
        if at < 0:
            return None
        return self._origin[at], self._origin[at + len(wanted) - 1] + 1


@dataclass(frozen=True, slots=True)
class Quotation:
    """What is looked up: normalised, and its longer words."""

    text: str
    words: Sequence[str]

    @classmethod
    def of(cls, quoted: str) -> "Quotation":
        text = normalise(quoted)
        return cls(text, _WORD.findall(text))


class QuotableText:
    """A text of which it is to be known only whether it holds quotations. Normalising a long one takes tens of
    milliseconds: it is done once, and only for a quotation whose words are all there, which takes next to nothing."""

    def __init__(self, text: str) -> None:
        self._text = text

    def holds(self, quotation: Quotation) -> bool:
        is_likely = quotation.text and all(word in self._words for word in quotation.words)
        return bool(is_likely) and quotation.text in self._plain

    @cached_property
    def _words(self) -> str:
        return self._text.replace("**", "")  # which may stand inside of words

    @cached_property
    def _plain(self) -> str:
        return normalise(self._text)


def normalise(text: str) -> str:
    """White space collapsed, quotation marks plain, markup left out, ends trimmed."""
    return _SPACE.sub(" ", _MARKUP.sub("", text.translate(_EQUIVALENT))).strip()


def quotations(text: str) -> list[str]:
    """What stands between “ and ”, in order: pieces of at least 12 characters, shorter ones are mere words."""
    return _QUOTED.findall(text)


def _without_markup(text: str) -> Iterator[tuple[int, str]]:
    """The characters that are read, with their positions."""
    start = 0
    for mark in (*_MARKUP.finditer(text), None):
        stop = mark.start() if mark else len(text)
        yield from zip(range(start, stop), text[start:stop], strict=True)
        start = mark.end() if mark else stop
