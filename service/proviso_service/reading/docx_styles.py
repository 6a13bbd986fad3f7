"""The styles of a Word document, as far as text and outline depend on them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from proviso_service.reading.docx_xml import Element, attribute, child, children, integer, is_on, kind, value

_HEADING_NAME = re.compile(r"heading ?([1-9])", re.IGNORECASE)
_TITLE_NAME = "title"
_CONTENTS_NAME = re.compile(r"toc ?[1-9]", re.IGNORECASE)
_OUTLINE_LEVELS = range(9)
_MAX_ANCESTORS = 20


@dataclass(frozen=True, slots=True)
class Style:
    """What a style and those it is based on say. `outline_level` is from 0, None for text of the body; `list_id` and
    `list_level` are None where nothing is said, `list_id` "0" where numbering is switched off."""

    outline_level: int | None = None
    is_title: bool = False
    in_contents: bool = False
    list_id: str | None = None
    list_level: int | None = None
    numbered_by: str = ""
    hidden: bool = False
    bold: bool = False


class Styles:
    """`root` is that of the styles part, None without one. The names of built-in styles are English in it whatever the
    language of Word, so that headings are known by them."""

    def __init__(self, root: Element | None = None) -> None:
        self._elements: dict[str, Element] = {}
        self._default_id = ""
        self._resolved: dict[str, Style] = {}
        for element in () if root is None else root:
            if kind(element) == "w:style":
                self._add(element)

    def paragraph(self, style_id: str) -> Style:
        """Of a paragraph; "" for the default style."""
        return self.style(style_id or self._default_id)

    def style(self, style_id: str) -> Style:
        """Of any kind; an unknown id is judged by itself."""
        if style_id not in self._resolved:
            self._resolved[style_id] = self._resolve(style_id)
        return self._resolved[style_id]

    def numbering_list(self, style_id: str) -> str:
        """The list that a numbering style stands for; "" without one."""
        paragraph = child(self._elements.get(style_id), "w:pPr")
        return value(child(child(paragraph, "w:numPr"), "w:numId"))

    def _add(self, element: Element) -> None:
        style_id = attribute(element, "styleId")
        self._elements[style_id] = element
        if attribute(element, "type") == "paragraph" and attribute(element, "default") in ("1", "true", "on"):
            self._default_id = style_id

    def _resolve(self, style_id: str) -> Style:
        names = [style_id]
        outline_level = list_level = None
        list_id, numbered_by = None, ""
        hidden = bold = None
        for ancestor_id, element in self._lineage(style_id):
            names.append(value(child(element, "w:name")))
            paragraph, run = children(child(element, "w:pPr")), children(child(element, "w:rPr"))
            numbering = children(paragraph.get("w:numPr"))
            outline_level = integer(value(paragraph.get("w:outlineLvl"))) if outline_level is None else outline_level
            list_level = integer(value(numbering.get("w:ilvl"))) if list_level is None else list_level
            if list_id is None and "w:numId" in numbering:
                list_id, numbered_by = value(numbering["w:numId"]), ancestor_id
            hidden = is_on(run.get("w:vanish")) if hidden is None else hidden
            bold = is_on(run.get("w:b")) if bold is None else bold
        return Style(
            outline_level=_level_by_name(names) if outline_level is None else in_outline(outline_level),
            is_title=any(name.lower() == _TITLE_NAME for name in names),
            in_contents=any(_CONTENTS_NAME.fullmatch(name) for name in names),
            list_id=list_id,
            list_level=list_level,
            numbered_by=numbered_by,
            hidden=bool(hidden),
            bold=bool(bold),
        )

    def _lineage(self, style_id: str) -> Iterator[tuple[str, Element]]:
        """The style, then those it is based on; a chain that does not end is cut."""
        for _ in range(_MAX_ANCESTORS):
            element = self._elements.get(style_id)
            if element is None:
                return
            yield style_id, element
            style_id = value(child(element, "w:basedOn"))


def in_outline(level: int) -> int | None:
    """None for the level that stands for text of the body."""
    return level if level in _OUTLINE_LEVELS else None


def _level_by_name(names: list[str]) -> int | None:
    found = next((match for name in names if (match := _HEADING_NAME.fullmatch(name))), None)
    return int(found[1]) - 1 if found else None
