"""The blocks of text that a web page consists of, and how the text of a block is put together."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from proviso_service.reading.canonical import SEEN_ONLY

_SPACE = re.compile(r"\s+")


class PageBreak(Enum):
    """What ends a page: a page break for certain, a rule perhaps."""

    NONE = auto()
    RULE = auto()
    PAGE = auto()


@dataclass(frozen=True, slots=True)
class HtmlBlock:
    """A paragraph, a row of a table where it has `cells`, or a break without text. `level` is the level of a heading, 0
    for text. A block that `stands_out` is bold as a whole, or underlined and centred."""

    text: str = ""
    level: int = 0
    cells: tuple[str, ...] = ()
    stands_out: bool = False
    is_item: bool = False
    opens_table: bool = False
    is_navigation: bool = False
    page_break: PageBreak = PageBreak.NONE


@dataclass(frozen=True, slots=True)
class Look:
    """How text looks at some place in the page."""

    bold: bool = False
    underlined: bool = False
    centred: bool = False
    keeps_space: bool = False
    is_navigation: bool = False
    level: int = 0


@dataclass(slots=True)
class BlockDraft:
    """The text of a block so far. White space runs together as in a browser, and so do no-break spaces, because they
    are used for indentation; a line break stays."""

    _pieces: list[str] = field(default_factory=list)
    _after_space: bool = True
    _shown_chars: int = 0
    _bold_chars: int = 0
    _underlined_chars: int = 0

    @property
    def is_empty(self) -> bool:
        return not self._pieces

    def add(self, text: str, look: Look) -> None:
        """Adds text that looks as `look` says."""
        text = text.translate(SEEN_ONLY)
        if look.keeps_space:
            self._pieces.append(text)
            self._after_space = False
        else:
            text = _SPACE.sub(" ", text)
            if self._after_space:
                text = text.removeprefix(" ")
            if not text:
                return
            self._pieces.append(text)
            self._after_space = text.endswith(" ")
        shown = len(text) - text.count(" ")
        self._shown_chars += shown
        self._bold_chars += shown if look.bold else 0
        self._underlined_chars += shown if look.underlined else 0

    def break_line(self) -> None:
        """Adds a line break."""
        self._pieces.append("\n")
        self._after_space = True

    def blocks(self, look: Look, *, label: str = "") -> list[HtmlBlock]:
        """Returns what was added as one block, or as several where white space is kept and blank lines divide it.
        `label` is the label of a list's item."""
        if not self._shown_chars:
            return []
        stands_out = self._bold_chars == self._shown_chars or (
            look.centred and self._underlined_chars == self._shown_chars
        )
        text = "".join(self._pieces)
        texts = _paragraphs(text) if look.keeps_space else [_without_edges(text)]
        if label:
            texts[0] = f"{label} {texts[0]}"
        return [
            HtmlBlock(text, look.level, stands_out=stands_out, is_item=bool(label), is_navigation=look.is_navigation)
            for text in texts
        ]


def _paragraphs(text: str) -> list[str]:
    """Divides the text at blank lines; the indentation of lines stays."""
    paragraphs: list[list[str]] = [[]]
    for line in text.expandtabs().splitlines():
        if line.strip():
            paragraphs[-1].append(line.rstrip())
        elif paragraphs[-1]:
            paragraphs.append([])
    return ["\n".join(lines) for lines in paragraphs if lines]


def _without_edges(text: str) -> str:
    return "\n".join(line.strip() for line in text.strip().split("\n"))


def texts_of(blocks: Sequence[HtmlBlock]) -> list[str]:
    """Returns the texts of those blocks that have one."""
    return [block.text for block in blocks if block.text]
