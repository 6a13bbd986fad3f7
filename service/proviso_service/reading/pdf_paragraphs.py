"""Finds the paragraphs of a PDF: which lines go on and which begin anew, also across the ends of columns and pages."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from statistics import median, quantiles

from proviso_service.reading.pdf_layout import LineFlow, PageBlock, TextLine, label_of
from proviso_service.reading.pdf_tables import PdfTable
from proviso_service.reading.pdf_words import Run, SetText

# A gap this much wider than the usual distance of lines begins a new paragraph.
_WIDE_SPACING = 1.3
# Multiples of the font size: the distance of lines that is assumed in a document without long paragraphs, and the
# largest distance across which a sentence goes on.
_USUAL_SPACING = 1.25
_MAX_SPACING = 3.2
_SIZE_CHANGE = 1.12
_INDENT = 1.0
_MIN_MEASURED_LINES = 8

# The end of a line is looked for in so many last characters.
_TAIL_CHARS = 80
_CLOSING = "\"')]\u201d\u2019"
_TERMINAL = (".", ";", ":", "!", "?")
_FILLED_IN = re.compile(r"(?:_{3}|\.{4}|(?:\. ){4})[^a-z]*$")
# A line that ends like this is not finished.
_OPEN_END = re.compile(
    r"(?:[,(/\u2014&-]|\b(?:of|and|or|the|to|for|in|on|by|with|a|an|at|from|as|upon|under|between|shall|will|may|must"
    r"|is|are|be|been|that|which|this|these|such|any|each|its|their|not|no|than|into|through))$"
)
_REFERENCE = re.compile(
    r"\b(?:sections?|clauses?|articles?|paragraphs?|exhibits?|schedules?|annex|appendix|items?|nos?\.|\u00a7{1,2})$",
    re.IGNORECASE,
)
# The end of the last but one item of an enumeration.
_ITEM_ENDS = re.compile(r"[;,]\s*(?:and|or|and/or)$")


_DIVIDED = re.compile(r"[(\[\"'\u201c\u2018/]*([^\W\d_]+(?:['\u2019-][^\W\d_]+)*)-")
_NEXT = re.compile(r"[^\W\d_]+")
_MAX_WORD_CHARS = 60
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
# Prefixes that keep their hyphen: they are no remainders of longer words that a line's end has divided.
_PREFIXES = re.compile(
    r"all|co|cross|first|full|half|high|long|low|mid|non|quasi|self|semi|short|single|third|well|one|two|three|four|five"
    r"|six|seven|eight|nine|ten|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety",
    re.IGNORECASE,
)
# Words after a hyphen that stays, as in "pre- and post-closing".
_SUSPENDED = frozenset({"and", "or", "to"})


class Vocabulary:
    """The words of a document as they stand inside its lines; hyphenated words are kept whole."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._words: set[str] = set()
        for line in lines:
            inside = line.rsplit(maxsplit=1)[0] if line.endswith("-") and " " in line else line
            self._words.update(_WORD.findall(inside.lower()))

    def __contains__(self, word: str) -> bool:
        return word.lower() in self._words


def join_lines(above: str, below: str, words: Vocabulary) -> tuple[str, str]:
    """Joins two lines. Returns the upper line, without a hyphen that is there only because the line ends, and what goes
    between the lines: nothing or a space."""
    if above.endswith(("\u2014", "/")):
        return above, ""
    if not above.endswith("-") or len(above) < 2 or not above[-2].isalnum():
        return above, " "
    divided, following = _DIVIDED.fullmatch(above.rsplit(" ", maxsplit=1)[-1][-_MAX_WORD_CHARS:]), _NEXT.match(below)
    if divided is None or following is None:
        return above, "" if below[:1].isalnum() else " "
    first, second = divided[1], following[0]
    if second in _SUSPENDED:
        return above, " "
    return (above if _keeps_hyphen(first, second, words) else above[:-1]), ""


def _keeps_hyphen(first: str, second: str, words: Vocabulary) -> bool:
    if "-" in first or f"{first}-{second}" in words:
        return True
    if first + second in words:
        return False
    # "Agree-ment" occurs as often as "agree-ment"; but in "X-Ray" and "Co-Branded" the hyphen belongs to the word.
    return _PREFIXES.fullmatch(first) is not None or (second[0].isupper() and not first.isupper())


class ParagraphBreak(Enum):
    """What stands between two lines: nothing, a line break, or the end of a paragraph."""

    NONE = 0
    LINE = 1
    PARAGRAPH = 2


@dataclass(frozen=True, slots=True)
class LinePiece:
    """A line of a paragraph. `space` goes between it and the line before; it is empty where the lines divide a word."""

    page: int
    space: str
    text: str
    runs: tuple[Run, ...]


@dataclass(slots=True)
class PdfParagraph:
    """A paragraph under construction. `start` is the break before it, `size` the font size of its first line; it is
    `bold` when all its lines are."""

    start: ParagraphBreak
    size: float
    bold: bool
    pieces: list[LinePiece]

    def add(self, page: int, line: TextLine, words: Vocabulary) -> None:
        last = self.pieces[-1]
        text, space = join_lines(last.text, line.text, words)
        self.pieces[-1] = LinePiece(last.page, last.space, text, last.runs)
        self.pieces.append(LinePiece(page, space, line.text, line.runs))
        self.bold = self.bold and line.bold


@dataclass(frozen=True, slots=True)
class PlacedTable:
    """A table and the number of its page."""

    page: int
    table: PdfTable


@dataclass(frozen=True, slots=True)
class PlacedFurniture:
    """Furniture inside a page, and the number of the page."""

    page: int
    running: SetText


PdfPart = PdfParagraph | PlacedTable | PlacedFurniture


@dataclass(frozen=True, slots=True)
class Typesetting:
    """How a document is set: the usual distance of lines as a multiple of the font size, how far its full lines reach
    in points, and its words."""

    spacing: float
    right: float
    words: Vocabulary


def _measured(pages: Sequence[Sequence[PageBlock]]) -> Typesetting:
    flows = [
        LineFlow(lines, block.column)
        for blocks in pages
        for block in blocks
        if isinstance(block, LineFlow) and (lines := tuple(line for line in block.lines if not line.is_furniture))
    ]
    words = Vocabulary(line.text for flow in flows for line in flow.lines)
    return Typesetting(_usual_spacing(flows), _usual_right(flows), words)


def _usual_spacing(flows: Sequence[LineFlow]) -> float:
    """Returns the usual distance of lines, measured between lines of which the lower begins with a small letter: most
    of them continue a paragraph."""
    found = [
        (below.baseline - above.baseline) / above.size
        for flow in flows
        for above, below in pairwise(flow.lines)
        if below.text[:1].islower() and above.size > 0
    ]
    usual = [spacing for spacing in found if 0.8 < spacing < _MAX_SPACING]
    return median(usual) if len(usual) >= _MIN_MEASURED_LINES else _USUAL_SPACING


def _usual_right(flows: Sequence[LineFlow]) -> float:
    reached = [_full_right(flow) for flow in flows if len(flow.lines) >= _MIN_MEASURED_LINES and not flow.column]
    return median(reached) if reached else 0.0


def _full_right(flow: LineFlow) -> float:
    """Returns how far the longer lines reach; a single very long one does not count."""
    rights = [line.right for line in flow.lines]
    return quantiles(rights, n=8)[-1] if len(rights) >= _MIN_MEASURED_LINES else max(rights)


def paragraphs(numbers: Sequence[int], pages: Sequence[Sequence[PageBlock]]) -> Iterator[PdfPart]:
    """Yields the parts of a document in reading order; `numbers` are those of the pages. Furniture inside a page comes
    after the paragraph that goes on around it."""
    joiner = _Joiner(_measured(pages))
    for number, blocks in zip(numbers, pages, strict=True):
        for block in blocks:
            if isinstance(block, PdfTable):
                yield from joiner.ended()
                yield PlacedTable(number, block)
            else:
                yield from joiner.take(number, block)
    yield from joiner.ended()


class _Joiner:
    """Makes paragraphs of lines, taken one after the other."""

    def __init__(self, setting: Typesetting) -> None:
        self._setting = setting
        self._current: PdfParagraph | None = None
        self._furniture: list[PlacedFurniture] = []
        self._last: list[TextLine] = []
        self._right = 0.0

    def take(self, number: int, flow: LineFlow) -> Iterator[PdfPart]:
        """Yields the parts that end before or within this flow."""
        apart = True
        right = _full_right(flow) if flow.column else max(_full_right(flow), self._setting.right)
        for line in flow.lines:
            if line.is_furniture:
                self._furniture.append(PlacedFurniture(number, SetText(line.text, line.runs)))
                apart = True
                continue
            start = self._start(line, right, apart=apart)
            if self._current and start is ParagraphBreak.NONE:
                self._current.add(number, line, self._setting.words)
                self._last = [line] if apart else [self._last[-1], line]
            else:
                yield from self.ended()
                self._current = PdfParagraph(start, line.size, line.bold, [LinePiece(number, "", line.text, line.runs)])
                self._last = [line]
            apart, self._right = False, right

    def ended(self) -> Iterator[PdfPart]:
        """Yields the paragraph under way and the furniture inside it, if there are any."""
        if self._current:
            yield self._current
        yield from self._furniture
        self._current, self._furniture = None, []

    def _start(self, line: TextLine, right: float, *, apart: bool) -> ParagraphBreak:
        if self._current is None:
            return ParagraphBreak.PARAGRAPH
        if apart:
            return _break_apart(self._last[-1], line, self._right)
        return _break(self._last, line, self._setting, right)


def _break(paragraph: Sequence[TextLine], line: TextLine, setting: Typesetting, right: float) -> ParagraphBreak:
    """Returns the break between a line and the line above it; `paragraph` holds the last lines above, two at most."""
    above = paragraph[-1]
    full, goes_on = _is_full(above, line, right), _goes_on(above, line)
    if _begins_item(above, line):
        return ParagraphBreak.PARAGRAPH
    if _is_wide(paragraph, line, setting):
        close = line.baseline - above.baseline <= _MAX_SPACING * above.size
        return ParagraphBreak.NONE if goes_on and full and close else ParagraphBreak.PARAGRAPH
    if goes_on or (_is_open(above) and not _changes_size(above, line)):
        return ParagraphBreak.NONE
    if _changes_size(above, line):
        return ParagraphBreak.PARAGRAPH
    if _FILLED_IN.search(_tail(above)):
        return ParagraphBreak.LINE
    return _at_end_of_line(above, line, full=full)


def _at_end_of_line(above: TextLine, line: TextLine, *, full: bool) -> ParagraphBreak:
    """Decides where neither distance nor words tell: the line above is `full`, or leaves room for the next word."""
    ends = _ends_sentence(above)
    if not full:
        return ParagraphBreak.PARAGRAPH if ends or above.bold != line.bold else ParagraphBreak.LINE
    indented = line.left > above.left + _INDENT * line.size
    return ParagraphBreak.PARAGRAPH if ends and (indented or (above.bold and not line.bold)) else ParagraphBreak.NONE


def _break_apart(above: TextLine, line: TextLine, right: float) -> ParagraphBreak:
    """Returns the break between the last line of a column or page and the first line of the next."""
    if _begins_item(above, line):
        return ParagraphBreak.PARAGRAPH
    if _goes_on(above, line):
        return ParagraphBreak.NONE
    if _changes_size(above, line) or above.bold != line.bold or _FILLED_IN.search(_tail(above)):
        return ParagraphBreak.PARAGRAPH
    if _is_open(above) or (_is_full(above, line, right) and not _ends_sentence(above)):
        return ParagraphBreak.NONE
    return ParagraphBreak.PARAGRAPH


def _begins_item(above: TextLine, line: TextLine) -> bool:
    """Tells whether the line begins a clause or an item of a list, rather than with a reference to one."""
    label = label_of(line.text)
    if not label:
        return False
    if label[0].isalnum() and not _ITEM_ENDS.search(_tail(above)):
        return not (_is_open(above) or _REFERENCE.search(_tail(above)) or _goes_on(above, line))
    return not _REFERENCE.search(_tail(above))


def _goes_on(above: TextLine, line: TextLine) -> bool:
    """Tells whether the line continues the sentence above."""
    return line.text[:1].islower() and not _ends_sentence(above) and not _is_rule(above)


def _is_open(line: TextLine) -> bool:
    """Tells whether the line ends in a way that no sentence does."""
    return _OPEN_END.search(_tail(line)) is not None and not _is_rule(line)


def _is_rule(line: TextLine) -> bool:
    """Tells whether the line is a rule that is drawn with characters such as dashes or stars."""
    return not any(map(str.isalnum, line.text))


def _ends_sentence(line: TextLine) -> bool:
    return line.text.rstrip(_CLOSING).endswith(_TERMINAL)


def _is_full(above: TextLine, line: TextLine, right: float) -> bool:
    """Tells whether the line above had no room left for the first word of the next line."""
    first = line.text.partition(" ")[0]
    width = (line.right - line.left) * len(first) / max(1, len(line.text))
    return above.right + width + above.size / 4 > right - above.size / 2


def _tail(line: TextLine) -> str:
    return line.text[-_TAIL_CHARS:]


def _is_wide(paragraph: Sequence[TextLine], line: TextLine, setting: Typesetting) -> bool:
    above = paragraph[-1]
    usual = setting.spacing * max(above.size, line.size)
    if len(paragraph) > 1:
        usual = max(1.0, above.baseline - paragraph[-2].baseline)
    return line.baseline - above.baseline > _WIDE_SPACING * usual


def _changes_size(above: TextLine, line: TextLine) -> bool:
    return max(above.size, line.size) > _SIZE_CHANGE * min(above.size, line.size)
