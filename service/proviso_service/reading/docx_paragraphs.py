"""Reads the paragraphs of a part of a Word document as they read once all changes are accepted and fields are shown."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from lxml import etree

from proviso_service.reading.canonical import legible
from proviso_service.reading.docx_numbering import Label, Numbering, ParagraphStyle, Styles, in_outline
from proviso_service.reading.docx_xml import (
    Element,
    attribute,
    child,
    children,
    content_of,
    integer,
    is_on,
    kind,
    value,
)
from proviso_service.reading.numerals import NumeralStyle, numeral

# Elements that are left out with everything in them. Comments and the code of fields hold no `w:t`, so they need no
# entry.
_LEFT_OUT = frozenset({"w:del", "w:moveFrom", "w:rPr", "w:pPr", "w:sdtPr", "w:rt", "w:sectPr", "w:tblPr", "w:trPr"})
_CHARACTERS = {
    "w:tab": "\t",
    "w:ptab": "\t",
    "w:br": "\n",
    "w:cr": "\n",
    "w:noBreakHyphen": "-",
}
# Signs of the fonts Wingdings and Symbol that say something in a contract.
_SIGNS = {
    "F0A8": "\u2610",
    "F06F": "\u2610",
    "F071": "\u2610",
    "F0FE": "\u2611",
    "F078": "\u2612",
    "F0FD": "\u2612",
    "F0FC": "\u2713",
    "F0A7": "\u00a7",
    "F0B7": "\u2022",
    "F0D2": "\u00ae",
    "F0D3": "\u00a9",
    "F0D4": "\u2122",
}
_PRIVATE_USE = range(0xE000, 0xF900)
_NO_STYLE = ParagraphStyle()
_NOTE_MARKS = {
    "w:footnoteReference": ("footnote", NumeralStyle.DECIMAL),
    "w:endnoteReference": ("endnote", NumeralStyle.LOWER_ROMAN),
}


@dataclass(frozen=True, slots=True)
class NoteReference:
    """A reference to a note. `mark` is what stands in the text, such as "[1]"; it is empty where the text has a mark of
    its own."""

    note_kind: str
    note_id: str
    mark: str


@dataclass(frozen=True, slots=True)
class DocxParagraph:
    """A paragraph. `text` is `legible`, with single spaces and a newline for each break, and does not hold the label.
    `outline_level` counts from 0 and is None in body text; `bold` says that the whole paragraph is bold."""

    text: str
    label: Label | None = None
    list_level: int = 0
    outline_level: int | None = None
    is_title: bool = False
    in_contents: bool = False
    bold: bool = False
    notes: tuple[NoteReference, ...] = ()

    @property
    def full_text(self) -> str:
        """The text with its label; empty when there is no text."""
        if self.label is None or not self.text:
            return self.text
        return f"{self.label.text}{self.label.gap}{self.text}"


@dataclass(slots=True)
class _ParagraphDraft:
    """A paragraph that is being read. When the mark at its end was deleted it `runs_on`: its text opens the next
    paragraph."""

    style: ParagraphStyle
    hidden: bool = False
    runs_on: bool = False
    label: Label | None = None
    list_level: int = 0
    outline_level: int | None = None
    pieces: list[str] = field(default_factory=list)
    notes: list[NoteReference] = field(default_factory=list)
    shown_chars: int = 0
    bold_chars: int = 0

    def finished(self) -> DocxParagraph:
        lines = (" ".join(line.split()) for line in legible("".join(self.pieces)).split("\n"))
        return DocxParagraph(
            "\n".join(lines).strip(),
            self.label,
            self.list_level,
            self.outline_level,
            self.style.is_title,
            self.style.in_contents,
            0 < self.shown_chars == self.bold_chars,
            tuple(self.notes),
        )


class ParagraphReader:
    """Reads paragraphs in the order of the document, so that lists and notes count on from one call to the next."""

    def __init__(self, styles: Styles, numbering: Numbering) -> None:
        self._styles = styles
        self._numbering = numbering
        self._note_counts: dict[str, int] = {}
        self._running_on: _ParagraphDraft | None = None

    def all_of(self, container: Element) -> list[DocxParagraph]:
        """Returns the paragraphs of a cell, a note or a header."""
        return [*self.paragraphs(container), *self.rest()]

    def rest(self) -> Iterator[DocxParagraph]:
        """Returns text that was to open the next paragraph, for which none came."""
        if self._running_on is not None:
            draft, self._running_on = self._running_on, None
            yield draft.finished()

    def paragraphs(self, container: Element) -> Iterator[DocxParagraph]:
        """Yields the paragraphs in order; those of a text box follow the paragraph that it belongs to. The last one may
        be left for the next call, see `rest`."""
        open_drafts: list[_ParagraphDraft] = []
        boxed: list[DocxParagraph] = []
        bold = False
        walk = etree.iterwalk(container, events=("start", "end"))
        for event, element in walk:
            name = kind(element)
            if event == "end":
                if name == "w:p" and open_drafts:
                    yield from self._end(open_drafts, boxed)
            elif name == "w:p":
                open_drafts.append(self._begin(element, is_boxed=bool(open_drafts)))
            elif name in _LEFT_OUT or self._is_other_rendering(element, name):
                walk.skip_subtree()
            elif open_drafts:
                draft = open_drafts[-1]
                if name == "w:r":
                    properties = children(child(element, "w:rPr"))
                    style = self._run_style(properties)
                    bold = _setting(properties.get("w:b"), style.bold or draft.style.bold)
                    if _setting(properties.get("w:vanish"), style.hidden or draft.style.hidden):
                        walk.skip_subtree()
                else:
                    self._take(draft, element, name, bold)

    def _end(self, open_drafts: list[_ParagraphDraft], boxed: list[DocxParagraph]) -> list[DocxParagraph]:
        """Yields what is complete once the innermost paragraph ends."""
        draft = open_drafts.pop()
        if open_drafts:
            boxed.append(draft.finished())
            return []
        hanging_on = list(boxed)
        boxed.clear()
        if draft.runs_on:
            self._running_on = draft
            return hanging_on
        return [draft.finished(), *hanging_on]

    def _begin(self, element: Element, *, is_boxed: bool) -> _ParagraphDraft:
        properties = children(child(element, "w:pPr"))
        style = self._styles.paragraph(value(properties.get("w:pStyle")))
        own_level = integer(value(properties.get("w:outlineLvl")))
        draft = _ParagraphDraft(
            style, outline_level=style.outline_level if own_level is None else in_outline(own_level)
        )
        mark = children(properties.get("w:rPr"))
        draft.runs_on = not is_boxed and ("w:del" in mark or "w:moveFrom" in mark)
        mark_hidden = is_on(mark.get("w:vanish")) and not is_on(mark.get("w:specVanish"))
        if not draft.runs_on and not mark_hidden:
            draft.label, draft.list_level = self._label(children(properties.get("w:numPr")), style)
        if not is_boxed and self._running_on is not None:
            before, self._running_on = self._running_on, None
            draft.pieces, draft.notes = before.pieces, before.notes
            draft.shown_chars, draft.bold_chars = before.shown_chars, before.bold_chars
        return draft

    def _label(self, own: Mapping[str, Element], style: ParagraphStyle) -> tuple[Label | None, int]:
        """Returns the label by the paragraph's `own` numbering, or by that of its style; a list without a level means
        its first level."""
        own_list, level = value(own.get("w:numId")), integer(value(own.get("w:ilvl")))
        list_id = own_list or style.list_id
        if level is None:
            level = 0 if own_list and style.list_level is None else style.list_level
        return self._numbering.count(list_id, level, style.numbered_by) if list_id else (None, 0)

    def _run_style(self, properties: Mapping[str, Element]) -> ParagraphStyle:
        return self._styles.style(value(properties["w:rStyle"])) if "w:rStyle" in properties else _NO_STYLE

    def _take(self, draft: _ParagraphDraft, element: Element, name: str, bold: bool) -> None:
        """Adds what an element of a run shows to the text."""
        if name in ("w:t", "m:t"):
            text = element.text or ""
            draft.pieces.append(text)
            shown = len(text) - text.count(" ")
            draft.shown_chars += shown
            draft.bold_chars += shown if bold else 0
        elif name in _CHARACTERS:
            draft.pieces.append(_CHARACTERS[name])
        elif name == "w:sym":
            draft.pieces.append(_sign(attribute(element, "char")))
        elif name in _NOTE_MARKS:
            self._refer(draft, element, *_NOTE_MARKS[name])

    def _refer(self, draft: _ParagraphDraft, element: Element, note_kind: str, style: NumeralStyle) -> None:
        mark = ""
        if attribute(element, "customMarkFollows") not in ("1", "true", "on"):
            self._note_counts[note_kind] = self._note_counts.get(note_kind, 0) + 1
            mark = f"[{numeral(self._note_counts[note_kind], style)}]"
        draft.pieces.append(mark)
        draft.notes.append(NoteReference(note_kind, attribute(element, "id"), mark))

    def _is_other_rendering(self, element: Element, name: str) -> bool:
        """Tells whether the element is the second rendering of content that the file gives twice, for newer and older
        versions of Word."""
        if name not in ("mc:Choice", "mc:Fallback"):
            return False
        siblings = element.getparent()
        return element is not next((found for found in siblings if kind(found) == "mc:Choice"), element)


def rows(table: Element) -> Iterator[list[Element]]:
    """Yields the cells of each row, except for deleted and hidden rows."""
    for row in content_of(table):
        properties = children(child(row, "w:trPr"))
        if kind(row) == "w:tr" and "w:del" not in properties and not is_on(properties.get("w:hidden")):
            yield [cell for cell in content_of(row) if kind(cell) == "w:tc"]


def _setting(own: Element | None, otherwise: bool) -> bool:
    found = is_on(own)
    return otherwise if found is None else found


def _sign(code: str) -> str:
    if code.upper() in _SIGNS:
        return _SIGNS[code.upper()]
    try:
        point = int(code[:6], 16)
    except ValueError:
        return ""
    return "" if point in _PRIVATE_USE or point > 0x10FFFF else chr(point)
