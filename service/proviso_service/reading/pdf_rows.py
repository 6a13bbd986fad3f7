"""Segments of a page that stand side by side."""

from collections.abc import Iterable, Sequence

from proviso_service.reading.pdf_lines import Segment

Row = tuple[Segment, ...]
"""Segments on one baseline, from left to right."""

# Of the font size.
_SAME_LINE = 0.35
_MAX_OVERLAP = 0.5
# More pieces than any line has that is to be read.
_MAX_PIECES = 200


def rows_of(segments: Iterable[Segment]) -> list[Row]:
    """The rows that segments make, from the top."""
    rows: list[list[Segment]] = []
    for segment in sorted(segments, key=lambda s: (s.baseline, s.left)):
        if rows and len(rows[-1]) < _MAX_PIECES and _is_beside(segment, rows[-1]):
            rows[-1].append(segment)
        else:
            rows.append([segment])
    return [tuple(sorted(row, key=lambda s: s.left)) for row in rows]


def text_of(row: Iterable[Segment]) -> str:
    return " ".join(segment.text for segment in row)


def _is_beside(segment: Segment, row: Sequence[Segment]) -> bool:
    if segment.baseline - row[0].baseline > _SAME_LINE * min(segment.size, row[0].size):
        return False
    overlap = _MAX_OVERLAP * segment.size
    return all(segment.left > other.right - overlap or segment.right < other.left + overlap for other in row)
