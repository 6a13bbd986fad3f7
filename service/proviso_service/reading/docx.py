"""Reads Word documents (DOCX): what they say, with the numbers that Word shows.

- Numbers of clauses and lists are counted from the definitions in the file and written before the text, "12.3 The
  Supplier shall ...". Changes are read as accepted, hidden text and comments are left out.
- A footnote or endnote leaves its mark in the text, "[1]" or "[i]", and follows as a paragraph of its own, "[1] See
  ...", after the paragraph or table that refers to it: so it is found with its clause and cuts no sentence in two.
- Tables are read row by row, text boxes after the paragraph that they belong to, running headers and footers once each
  at the end of the text.
- There are no pages: Word lays a document out anew on every machine, and a page number that differs from the one that
  a reader sees would mislead.
"""

from collections.abc import Iterable
from dataclasses import replace

from proviso_service.reading.canonical import CanonicalText, is_layout_row, marked_item
from proviso_service.reading.clauses import opening_title
from proviso_service.reading.docx_numbering import Numbering, Styles
from proviso_service.reading.docx_package import Package
from proviso_service.reading.docx_paragraphs import DocxParagraph, ParagraphReader, rows
from proviso_service.reading.docx_xml import Element, WordParts, attribute, body_blocks, child, content_of, kind
from proviso_service.reading.model import Heading, ParsedDocument, ReadingLimits, Span
from proviso_service.reading.outline import (
    CAPITALS_LEVEL,
    CLAUSE_LEVEL,
    complete_outline,
    reads_as_title,
    stands_out_as_title,
)


def parse_docx(content: bytes, limits: ReadingLimits) -> ParsedDocument:
    """Returns the text, headings and furniture of a Word document, without pages. Raises UnreadableFile."""
    parts = WordParts(Package(content))
    styles = Styles(parts.related("styles"))
    reader = ParagraphReader(styles, Numbering(parts.related("numbering"), styles))
    text = _Text(
        CanonicalText(limits), reader, {note_kind: parts.notes(note_kind) for note_kind in ("footnote", "endnote")}
    )
    with parts.document() as part:
        for block in body_blocks(part):
            text.block(block)
    text.end()
    for root in parts.running():
        text.running(root)
    return text.finish()


class _Text:
    """Turns the blocks of the document's body, taken in order, into canonical text."""

    def __init__(self, canonical: CanonicalText, reader: ParagraphReader, notes: dict[str, dict[str, Element]]) -> None:
        self._canonical = canonical
        self._reader = reader
        self._notes = notes
        self._likely: list[tuple[int, Span]] = []
        self._contents: list[Span] = []
        self._running: set[str] = set()
        self._has_title = False
        self._in_bullets = False

    def block(self, block: Element) -> None:
        for element in content_of([block]):
            if kind(element) == "w:p":
                for paragraph in self._reader.paragraphs(element):
                    self._paragraph(paragraph)
            elif kind(element) == "w:tbl":
                self.end()
                self._table(element)

    def end(self) -> None:
        """Writes what is left once no paragraph follows."""
        for paragraph in self._reader.rest():
            self._paragraph(paragraph)

    def running(self, root: Element) -> None:
        """Writes a running header or footer, in one line."""
        words = " ".join(paragraph.full_text for paragraph in self._reader.all_of(root)).strip()
        if words not in self._running:
            self._running.add(words)
            self._canonical.furniture(words)

    def finish(self) -> ParsedDocument:
        parsed = self._canonical.finish()
        apart = [*self._contents, *parsed.furniture]
        likely = (
            Heading(level, " ".join(parsed.text[span.start : span.end].split()), span.start, span.end)
            for level, span in self._likely
        )
        return replace(parsed, headings=complete_outline(parsed.text, parsed.headings, likely, apart))

    def _paragraph(self, paragraph: DocxParagraph) -> None:
        level = self._level(paragraph)
        if level and reads_as_title(paragraph.text):
            self._canonical.heading(paragraph.full_text, level)
        else:
            self._text(paragraph, level)
        self._in_bullets = bool(paragraph.label and paragraph.label.is_bullet)
        self._append_notes([paragraph])

    def _level(self, paragraph: DocxParagraph) -> int:
        """Returns the level of a heading from 1, and 0 for text. Headings of a document with a title are below the
        title."""
        if paragraph.is_title and paragraph.text:
            self._has_title = True
            return 1
        return 0 if paragraph.outline_level is None else paragraph.outline_level + 1 + self._has_title

    def _text(self, paragraph: DocxParagraph, level: int) -> None:
        follows_bullet = self._in_bullets and paragraph.label is not None and paragraph.label.is_bullet
        append = self._canonical.line if follows_bullet else self._canonical.paragraph
        span = append(paragraph.full_text)
        if paragraph.in_contents:
            self._contents.append(span)
        elif paragraph.text:
            self._mark(paragraph, level, span)

    def _mark(self, paragraph: DocxParagraph, level: int, span: Span) -> None:
        """Makes headings of clauses that open with their title, and of lines that stand out, even if they have no
        heading style."""
        title, rest = opening_title(paragraph.text)
        is_clause = paragraph.label is not None and not paragraph.label.is_bullet
        if title and is_clause and (rest.strip() or paragraph.bold):
            start_of_text = span.end - len(paragraph.text)
            title_span = Span(span.start, start_of_text + len(title))
            if level:
                self._canonical.mark_heading(title_span, level)
            else:
                self._likely.append((CLAUSE_LEVEL + paragraph.list_level, title_span))
        elif paragraph.bold and stands_out_as_title(paragraph.full_text):
            self._likely.append((CAPITALS_LEVEL, span))

    def _table(self, table: Element) -> None:
        first = True
        told: list[DocxParagraph] = []
        for cells in rows(table):
            read = [[] if _goes_on(cell) else self._reader.all_of(cell) for cell in cells]
            texts = [[paragraph.full_text for paragraph in cell if paragraph.text] for cell in read]
            if is_layout_row(texts):
                for paragraph in (paragraph for cell in read for paragraph in cell):
                    self._paragraph(paragraph)
                first = True
                continue
            told += (paragraph for cell in read for paragraph in cell)
            if item := marked_item(texts):
                self._canonical.paragraph(item)
            else:
                span = self._canonical.row((" ".join(cell) for cell in texts), first=first)
                first = first and span.start == span.end
        self._in_bullets = False
        self._append_notes(told)

    def _append_notes(self, paragraphs: Iterable[DocxParagraph]) -> None:
        """Appends each note once, however often the text refers to it."""
        for reference in (note for paragraph in paragraphs for note in paragraph.notes):
            note = self._notes[reference.note_kind].pop(reference.note_id, None)
            if note is not None:
                words = " ".join(paragraph.full_text for paragraph in self._reader.all_of(note))
                self._canonical.paragraph(f"{reference.mark} {words}" if words else "")


def _goes_on(cell: Element) -> bool:
    """Tells whether the cell belongs to the merged cell above."""
    merged = child(child(cell, "w:tcPr"), "w:vMerge")
    return merged is not None and attribute(merged, "val") != "restart"
