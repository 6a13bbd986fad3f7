"""The numbers that Word puts before paragraphs: they stand nowhere in the text and are counted here as Word does."""

import re
from dataclasses import dataclass, field

from proviso_service.reading.docx_styles import Styles
from proviso_service.reading.docx_xml import Element, attribute, child, children, integer, is_on, kind, value
from proviso_service.reading.numerals import NumeralStyle, numeral

BULLET = "-"
LEVELS = 9

_BULLET_FORMAT = "bullet"
_PLACE = re.compile(r"%([1-9])")
_MAX_TEXT_CHARS = 100


@dataclass(frozen=True, slots=True)
class ListLevel:
    """How one level of a list counts; `text` is such as "%1.%2", `restarts_after` the level from 0 whose next number
    starts this one again, with all above it; -1 for a level that never starts again."""

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
    """What stands before a paragraph: "12.3", "(a)" or a bullet; `gap` separates it from the text."""

    text: str
    gap: str = " "
    is_bullet: bool = False


@dataclass(slots=True)
class _List:
    """One `w:num`: its levels, and the counts, shared by all lists of the same definition."""

    levels: dict[int, ListLevel]
    starts: dict[int, int]
    counts: list[int | None]


@dataclass(slots=True)
class Numbering:
    """Counts the paragraphs of a document, which are told in order. `root` is that of the numbering part."""

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
        """The label of the next paragraph of a list, None where it has none, and its level from 0. Without a `level` it
        is the one that belongs to the paragraph style `style_id`."""
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
        """Where a definition is only a reference to a numbering style, that style's."""
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
    """Counts one on `level`; deeper levels start again. A start of its own holds for the first paragraph of a list."""
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
