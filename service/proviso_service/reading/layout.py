"""Tables that hold values and tables that only place paragraphs side by side."""

import re
from collections.abc import Sequence

_MAX_ROW_CHARS = 500
_MAX_VALUE_CHARS = 60
_MARKER = re.compile(
    r"(?:[(\[]?(?:\d{1,3}|[ivxlcIVXLC]{1,6}|[a-zA-Z]{1,2})[.)\]]{1,2}|\d{1,3}(?:\.\d{1,3}){1,5}\.?|[-*\u2022\u00b7\u25cf\u25aa\u2013])"
)


def is_layout_row(cells: Sequence[Sequence[str]]) -> bool:
    """Whether a row is read as paragraphs, cell by cell: where a single cell holds all there is and that is not just a
    value, and where the cells hold several paragraphs that are too long for one line. `cells` are the paragraphs of
    each cell, none of them empty."""
    filled = [cell for cell in cells if cell]
    chars = sum(len(text) for cell in filled for text in cell)
    several = any(len(cell) > 1 for cell in filled)
    if len(filled) == 1:
        return several or len(cells) == 1 or chars > _MAX_VALUE_CHARS
    return several and chars > _MAX_ROW_CHARS


def marked_item(cells: Sequence[Sequence[str]]) -> str:
    """The text of a row that is an item of a list, its number or bullet in a cell of its own; "" for another."""
    filled = [cell for cell in cells if cell]
    if len(filled) == 2 and _MARKER.fullmatch(filled[0][0]):
        return f"{filled[0][0]} {' '.join(filled[1])}"
    return ""
