"""Finds the reading order of a page: its columns, its lines and its tables, and the labels that clauses open with."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from proviso_service.reading.pdf_lines import Row, Segment, rows_of, runs_of, text_of
from proviso_service.reading.pdf_tables import Grid, PdfTable, cut_tables, ruled_table
from proviso_service.reading.pdf_words import Run, SetText

# As a share of the font size.
_TOUCHING = 0.12

# Text counts as columns only when both sides are prose and were drawn one after the other; anything else is read line
# by line.
_MIN_COLUMN_LINES = 6
_MIN_COLUMN_WORDS = 4.0
_MAX_CROSSINGS = 3
_MAX_COLUMN_SPLITS = 3
_MAX_GUTTERS_TRIED = 5


@dataclass(frozen=True, slots=True)
class TextLine:
    """One line of text, with positions as in Segment. A line that `is_furniture` only stands between the others."""

    text: str
    left: float
    right: float
    baseline: float
    size: float
    bold: bool
    runs: tuple[Run, ...]
    is_furniture: bool = False


@dataclass(frozen=True, slots=True)
class LineFlow:
    """Lines that are read one after the other. `column` tells that they are one of several columns of their page."""

    lines: tuple[TextLine, ...]
    column: bool = False


PageBlock = LineFlow | PdfTable


def arrange(segments: Sequence[Segment], grids: Sequence[Grid]) -> list[PageBlock]:
    """Puts a page into reading order. `grids` are its ruled tables, from the top."""
    inside: list[list[Segment]] = [[] for _ in grids]
    outside: list[Segment] = []
    for segment in segments:
        holder = next((held for grid, held in zip(grids, inside, strict=True) if grid.holds(segment)), outside)
        holder.append(segment)
    blocks: list[PageBlock] = []
    for grid, held in zip(grids, inside, strict=True):
        above = [segment for segment in outside if segment.baseline < grid.rows[0]]
        outside = [segment for segment in outside if segment.baseline >= grid.rows[0]]
        blocks += _columns(above, _MAX_COLUMN_SPLITS)
        blocks += [ruled_table(grid, held)] if held else []
    return blocks + _columns(outside, _MAX_COLUMN_SPLITS)


def with_furniture(blocks: Sequence[PageBlock], inside: Iterable[tuple[float, SetText]]) -> list[PageBlock]:
    """Adds furniture to the blocks, given as pairs of baseline and text: as lines of the flow that begins above it, or
    else as a flow of its own at the end."""
    placed = list(blocks)
    for baseline, running in inside:
        line = TextLine(running.text, 0.0, 0.0, baseline, 0.0, bold=False, runs=running.runs, is_furniture=True)
        at = next((i for i in reversed(range(len(placed))) if _begins_above(placed[i], baseline)), None)
        flow = placed[at] if at is not None else None
        if at is not None and isinstance(flow, LineFlow):
            lines = tuple(sorted((*flow.lines, line), key=lambda line: line.baseline))
            placed[at] = LineFlow(lines, flow.column)
        else:
            placed.append(LineFlow((line,)))
    return placed


def _begins_above(block: PageBlock, baseline: float) -> bool:
    return isinstance(block, LineFlow) and block.lines[0].baseline < baseline


def _columns(segments: Sequence[Segment], splits_left: int, *, column: bool = False) -> list[PageBlock]:
    """Reads column by column where the page is set in columns, and line by line elsewhere."""
    gutter = _gutter(segments) if splits_left else None
    if gutter is None:
        return _flows(segments, column)
    blocks: list[PageBlock] = []
    whole: list[Segment] = []
    for left, right in _bands(segments, gutter):
        if not _is_prose_in_columns(left, right):
            whole += [*left, *right]
            continue
        blocks += _flows(whole, column)
        whole = []
        blocks += _columns(left, splits_left - 1, column=True)
        blocks += _columns(right, splits_left - 1, column=True)
    return blocks + _flows(whole, column)


def _gutter(segments: Sequence[Segment]) -> float | None:
    """Returns the left edge of a right column; None where there are no columns."""
    if len(segments) < 2 * _MIN_COLUMN_LINES:
        return None
    left, right = min(s.left for s in segments), max(s.right for s in segments)
    middle = (left + (right - left) / 5, right - (right - left) / 5)
    edges = Counter(round(s.left) for s in segments if middle[0] < s.left < middle[1])
    for edge, count in edges.most_common(_MAX_GUTTERS_TRIED):
        if count >= _MIN_COLUMN_LINES and any(_is_prose_in_columns(*band) for band in _bands(segments, edge - 1.0)):
            return edge - 1.0
    return None


def _bands(segments: Sequence[Segment], gutter: float) -> Iterator[tuple[list[Segment], list[Segment]]]:
    """Yields what stands left and right of the gutter, from the top. A line that crosses the gutter divides the page
    and is alone on the left."""
    by_baseline = sorted(segments, key=lambda s: s.baseline)
    for crossing, group in groupby(by_baseline, key=lambda s: s.left < gutter < s.right - 1.0):
        band = list(group)
        if crossing:
            yield band, []
        else:
            yield [s for s in band if s.left < gutter], [s for s in band if s.left >= gutter]


def _is_prose_in_columns(left: Sequence[Segment], right: Sequence[Segment]) -> bool:
    sides = (left, right)
    if any(len({round(s.baseline) for s in side}) < _MIN_COLUMN_LINES for side in sides):
        return False
    if any(sum(len(s.text.split()) for s in side) < _MIN_COLUMN_WORDS * len(side) for side in sides):
        return False
    drawn = sorted([(s.order, 0) for s in left] + [(s.order, 1) for s in right])
    return sum(before[1] != after[1] for before, after in pairwise(drawn)) <= _MAX_CROSSINGS


def _flows(segments: Sequence[Segment], column: bool) -> list[PageBlock]:
    """Returns the lines from the top, with the tables among them."""
    blocks: list[PageBlock] = []
    for part in cut_tables([_merged(row) for row in rows_of(segments)]):
        if isinstance(part, PdfTable):
            blocks.append(part)
        else:
            blocks.append(LineFlow(tuple(map(_line, part)), column))
    return blocks


def _merged(row: Sequence[Segment]) -> Row:
    """Joins the parts of one word, and a clause's number with its text."""
    merged: list[Segment] = []
    for segment in row:
        if merged and segment.left - merged[-1].right < _TOUCHING * segment.size:
            merged[-1] = _joined(merged[-1], segment, "")
        elif len(merged) == 1 and is_label(merged[0].text):
            merged[0] = _joined(merged[0], segment, " ")
        else:
            merged.append(segment)
    return tuple(merged)


def _joined(left: Segment, right: Segment, space: str) -> Segment:
    size = max(left.size, right.size)
    bold = left.bold and right.bold
    text, runs = left.text + space + right.text, left.runs + right.runs
    return Segment(text, left.left, right.right, left.baseline, size, bold, left.order, runs)


def _line(row: Row) -> TextLine:
    size = max(segment.size for segment in row)
    bold = all(segment.bold for segment in row)
    text, right = set_off(text_of(row)), max(s.right for s in row)
    return TextLine(text, row[0].left, right, row[0].baseline, size, bold, runs_of(row))


_NUMBER = r"\(?(?:\d{1,3}|[ivxlc]{1,6}|[IVXLC]{1,6}|[a-zA-Z]{1,2})[.)]"
_DOTTED = r"\d{1,2}(?:\.\d{1,3}){1,4}[.)]?"
_BULLET = "[\u2022\u25cf\u25aa\u25e6\u25cb\u25a0\u00b7\uf0b7*\u2013\u2014-]"
_NAMED = (
    r"(?i:article|section|clause|exhibit|schedule|annex|appendix|attachment)\s+"
    r"(?:\d{1,3}(?:\.\d{1,3})*|[IVXLC]{1,6}|[A-Z])[.:)]?"
)
_LABEL = re.compile(rf"(?:{_NUMBER}|{_DOTTED}|{_BULLET}|{_NAMED})")
_OPENING = re.compile(rf"(?:{_NUMBER}|{_DOTTED}|{_BULLET})(?=\s|$)|{_NAMED}(?=[\s.:]|$)")
# The space after the label was lost, or was only a gap between two segments.
_GLUED = re.compile(r"(?:\d{1,2}\.|\d{1,2}(?:\.\d{1,3}){1,3}\.?)(?=[A-Z\u201c\"])|[A-Z]\.(?=[A-Z\u201c\"][a-z])")


def is_label(text: str) -> bool:
    """Tells whether the text is a label and nothing else."""
    return _LABEL.fullmatch(text.strip()) is not None


def label_of(text: str) -> str:
    """Returns the label that a line opens with; "" where it opens with none."""
    match = _OPENING.match(text)
    return match[0] if match else ""


def set_off(text: str) -> str:
    """Returns the line with a space between its label and what follows."""
    match = _GLUED.match(text)
    return f"{match[0]} {text[match.end() :]}" if match else text
