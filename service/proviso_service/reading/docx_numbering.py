"""Works out a Word document's styles, and the numbers that Word puts before paragraphs: these stand nowhere in the file
and are counted here as Word counts them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from proviso_service.reading.docx_xml import Element, attribute, child, children, integer, is_on, kind, value
from proviso_service.reading.numerals import NumeralStyle, numeral

_HEADING_NAME = re.compile(r"heading ?([1-9])", re.IGNORECASE)
_TITLE_NAME = "title"
_CONTENTS_NAME = re.compile(r"toc ?[1-9]", re.IGNORECASE)
_OUTLINE_LEVELS = range(9)
_MAX_ANCESTORS = 20


@dataclass(frozen=True, slots=True)
class ParagraphStyle:
    """What a style and the styles that it is based on say. `outline_level` counts from 0 and is None for body text.
    `list_id` and `list_level` are None where nothing is said; a `list_id` of "0" switches numbering off."""

    outline_level: int | None = None
    is_title: bool = False
    in_contents: bool = False
    list_id: str | None = None
    list_level: int | None = None
    numbered_by: str = ""
    hidden: bool = False
    bold: bool = False


class Styles:
    """The styles of a document. `root` is the root of the styles part, None where there is none. The file names
    built-in styles in English whatever the language of Word, so headings are recognised by these names."""

    def __init__(self, root: Element | None = None) -> None:
        self._elements: dict[str, Element] = {}
        self._default_id = ""
        self._resolved: dict[str, ParagraphStyle] = {}
        for element in () if root is None else root:
            if kind(element) == "w:style":
                self._add(element)

    def paragraph(self, style_id: str) -> ParagraphStyle:
        """Returns the style of a paragraph; the id "" stands for the default style."""
        return self.style(style_id or self._default_id)

    def style(self, style_id: str) -> ParagraphStyle:
        """Returns a style of any kind; an unknown id is judged by itself."""
        if style_id not in self._resolved:
            self._resolved[style_id] = self._resolve(style_id)
        return self._resolved[style_id]

    def numbering_list(self, style_id: str) -> str:
        """Returns the id of the list that a numbering style stands for; "" where there is none."""
        paragraph = child(self._elements.get(style_id), "w:pPr")
        return value(child(child(paragraph, "w:numPr"), "w:numId"))

    def _add(self, element: Element) -> None:
        style_id = attribute(element, "styleId")
        self._elements[style_id] = element
        if attribute(element, "type") == "paragraph" and attribute(element, "default") in ("1", "true", "on"):
            self._default_id = style_id

    def _resolve(self, style_id: str) -> ParagraphStyle:
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
        return ParagraphStyle(
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
        """Yields the style, then those that it is based on; a chain without an end is cut."""
        for _ in range(_MAX_ANCESTORS):
            element = self._elements.get(style_id)
            if element is None:
                return
            yield style_id, element
            style_id = value(child(element, "w:basedOn"))


def in_outline(level: int) -> int | None:
    """Returns the level in the outline; None for the level that stands for body text."""
    return level if level in _OUTLINE_LEVELS else None


def _level_by_name(names: list[str]) -> int | None:
    found = next((match for name in names if (match := _HEADING_NAME.fullmatch(name))), None)
    return int(found[1]) - 1 if found else None


BULLET = "-"
LEVELS = 9

_BULLET_FORMAT = "bullet"
_PLACE = re.compile(r"%([1-9])")
_MAX_TEXT_CHARS = 100


@dataclass(frozen=True, slots=True)
class ListLevel:
    """How one level of a list counts. `text` is a pattern such as "%1.%2". `restarts_after` is the level, from 0, whose
    next number starts this level again, as do all levels above that one; -1 stands for a level that never starts
    again."""

    start: int = 1
    style: str = NumeralStyle.DECIMAL
    text: str = ""
    gap: str = " "
    restarts_after: int | None = None
    decimal_only: bool = False
    paragraph_style: str = ""

    @property
    def is_bullet(self) -> bool:
        return self.style == _BULLET_FORMAT


_UNDEFINED = ListLevel()


@dataclass(frozen=True, slots=True)
class Label:
    """What stands before a paragraph: "12.3", "(a)" or a bullet. `gap` separates it from the text."""

    text: str
    gap: str = " "
    is_bullet: bool = False


@dataclass(slots=True)
class _List:
    """A list of the document (one `w:num`): its levels, and the counts that it shares with all lists of the same
    definition."""

    levels: dict[int, ListLevel]
    starts: dict[int, int]
    counts: list[int | None]


@dataclass(slots=True)
class Numbering:
    """Counts the paragraphs of a document, which have to be given in order. `root` is the root of the numbering
    part."""

    root: Element | None
    styles: Styles
    _definitions: dict[str, Element] = field(init=False, default_factory=dict)
    _uses: dict[str, Element] = field(init=False, default_factory=dict)
    _lists: dict[str, _List | None] = field(init=False, default_factory=dict)
    _counts: dict[str, list[int | None]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        for element in () if self.root is None else self.root:
            if kind(element) == "w:abstractNum":
                self._definitions[attribute(element, "abstractNumId")] = element
            elif kind(element) == "w:num":
                self._uses[attribute(element, "numId")] = element

    def count(self, list_id: str, level: int | None, style_id: str) -> tuple[Label | None, int]:
        """Returns the label of the next paragraph of a list, None where it has none, and its level from 0. When no
        `level` is given, it is the one that belongs to the paragraph style `style_id`."""
        if list_id not in self._lists:
            self._lists[list_id] = self._open(list_id)
        found = self._lists[list_id]
        if level is None and found is not None:
            level = next((at for at, lvl in found.levels.items() if style_id and lvl.paragraph_style == style_id), 0)
        if found is None or level is None or not 0 <= level < LEVELS:
            return None, 0
        _advance(found, level)
        return _label(found, level), level

    def _open(self, list_id: str) -> _List | None:
        use = self._uses.get(list_id)
        definition_id = value(child(use, "w:abstractNumId"))
        definition = self._definition(definition_id)
        if use is None or definition is None:
            return None
        levels = _levels(definition)
        starts: dict[int, int] = {}
        for override in use:
            level = integer(attribute(override, "ilvl"))
            if kind(override) == "w:lvlOverride" and level is not None:
                levels |= _levels(override)
                start = integer(value(child(override, "w:startOverride")))
                starts |= {} if start is None else {level: start}
        return _List(levels, starts, self._counts.setdefault(definition_id, [None] * LEVELS))

    def _definition(self, definition_id: str) -> Element | None:
        """Returns the definition of a list. Where the definition only refers to a numbering style, it is that
        style's."""
        definition = self._definitions.get(definition_id)
        linked = value(child(definition, "w:numStyleLink"))
        if not linked:
            return definition
        use = self._uses.get(self.styles.numbering_list(linked))
        return self._definitions.get(value(child(use, "w:abstractNumId")), definition)


def _levels(parent: Element) -> dict[int, ListLevel]:
    found = ((integer(attribute(element, "ilvl")), element) for element in parent if kind(element) == "w:lvl")
    return {level: _level(element) for level, element in found if level is not None and level in range(LEVELS)}


def _level(element: Element) -> ListLevel:
    said = children(element)
    start, restart = integer(value(said.get("w:start"))), integer(value(said.get("w:lvlRestart")))
    return ListLevel(
        start=1 if start is None else start,
        style=value(said.get("w:numFmt")) or NumeralStyle.DECIMAL,
        text=value(said.get("w:lvlText"))[:_MAX_TEXT_CHARS],
        gap="" if value(said.get("w:suff")) == "nothing" else " ",
        restarts_after=None if restart is None else restart - 1,
        decimal_only=bool(is_on(said.get("w:isLgl"))),
        paragraph_style=value(said.get("w:pStyle")),
    )


def _advance(found: _List, level: int) -> None:
    """Counts one on `level`; deeper levels start again. A start number that a list has of its own holds for its first
    paragraph."""
    counts = found.counts
    before = counts[level]
    if level in found.starts:
        counts[level] = found.starts.pop(level)
    else:
        counts[level] = found.levels.get(level, _UNDEFINED).start if before is None else before + 1
    for deeper in range(level + 1, LEVELS):
        restarts_after = found.levels.get(deeper, _UNDEFINED).restarts_after
        if restarts_after is None or level <= restarts_after:
            counts[deeper] = None


def _label(found: _List, level: int) -> Label | None:
    shown = found.levels.get(level, _UNDEFINED)
    if shown.is_bullet:
        return Label(BULLET, is_bullet=True)

    def number(place: re.Match[str]) -> str:
        at = int(place[1]) - 1
        counted = found.levels.get(at, _UNDEFINED)
        count = found.counts[at]
        style = NumeralStyle.DECIMAL if shown.decimal_only else counted.style
        return numeral(counted.start if count is None else count, style)

    text = _PLACE.sub(number, shown.text).strip()
    return Label(text, shown.gap) if text else None
