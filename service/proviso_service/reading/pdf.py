"""Reads PDF files: text in reading order with its pages, tables and outline, and with running headers and footers set
apart."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import pypdfium2.raw as pdfium
from pypdfium2 import PdfDocument, PdfiumError, PdfPage

from proviso_service.reading.canonical import text_too_long
from proviso_service.reading.model import FileTooLong, ParsedDocument, ReadingLimits, UnreadableFile
from proviso_service.reading.pdf_assembly import PageMargins, assemble
from proviso_service.reading.pdf_furniture import repeated_stamps, running_rows
from proviso_service.reading.pdf_layout import PageBlock, arrange, with_furniture
from proviso_service.reading.pdf_lines import PageText, frame_of, read_page
from proviso_service.reading.pdf_outline import outline, read_bookmarks
from proviso_service.reading.pdf_paragraphs import paragraphs
from proviso_service.reading.pdf_tables import Grid, find_grids
from proviso_service.reading.pdf_words import page_words

_NOTICE = re.compile(r"please wait|to view the full contents", re.IGNORECASE)


def parse_pdf(content: bytes, limits: ReadingLimits) -> ParsedDocument:
    """Reads a PDF. Pages are numbered as they are counted in the file, from 1. Raises UnreadableFile when the file is
    protected, damaged, without text or over a limit."""
    with opened(content, limits) as document:
        pages = list(_read_pages(document, limits))
        blocks, margins = _arranged(pages)
        if not any(blocks) or _is_only_a_notice(document, pages):
            raise without_text(document)
        numbers = [page.number for page, _ in pages]
        assembled = assemble(paragraphs(numbers, blocks), margins, limits)
        parsed = assembled.parsed
        headings = outline(parsed.text, assembled.blocks, assembled.apart, read_bookmarks(document))
        sizes = ((page.number, page.shown) for page, _ in pages)
        return replace(parsed, headings=headings, page_words=page_words(parsed.text, assembled.runs, sizes))


def _read_pages(document: PdfDocument, limits: ReadingLimits) -> Iterator[tuple[PageText, tuple[Grid, ...]]]:
    document.init_forms()
    chars = 0
    for index in range(min(len(document), limits.max_pages)):
        page = open_page(document, index)
        if page is None:
            continue
        try:
            text = read_page(page, index + 1)
            grids = find_grids(page, frame_of(page, text.quarter_turns)) if _has_cells(text) else ()
        finally:
            page.close()
        chars += sum(len(segment.text) for segment in text.segments) + sum(len(stamp.text) for stamp in text.stamps)
        if chars > limits.max_text_chars:
            raise text_too_long(limits)
        yield text, grids


def _is_only_a_notice(document: PdfDocument, pages: Sequence[tuple[PageText, tuple[Grid, ...]]]) -> bool:
    """Tells whether a dynamic form holds nothing but the page that asks the reader for another program."""
    if len(pages) > 1 or not is_dynamic_form(document):
        return False
    return any(_NOTICE.match(segment.text) for page, _ in pages for segment in page.segments)


def _has_cells(page: PageText) -> bool:
    """Tells whether any segments of the page stand side by side, so that there may be a table."""
    return len({round(segment.baseline) for segment in page.segments}) < len(page.segments)


def _arranged(pages: Sequence[tuple[PageText, tuple[Grid, ...]]]) -> tuple[list[list[PageBlock]], list[PageMargins]]:
    """Returns the blocks of each page in reading order, and what stands in each page's margins."""
    texts = [text for text, _ in pages]
    repeated = repeated_stamps(texts)
    blocks: list[list[PageBlock]] = []
    margins: list[PageMargins] = []
    for (text, grids), running in zip(pages, running_rows(texts), strict=True):
        blocks.append(with_furniture(arrange(running.segments, grids), running.inside))
        stamps = tuple(stamp for stamp in text.stamps if stamp.text in repeated)
        aside = tuple(stamp for stamp in text.stamps if stamp.text not in repeated)
        margins.append(PageMargins(text.number, running.top, running.bottom + stamps, aside))
    return blocks, margins


DAMAGED = "The file is not a whole PDF: it is damaged, or cut off. Upload it again from the original."
_REASONS = {
    pdfium.FPDF_ERR_PASSWORD: "The PDF is protected by a password. Remove the password and upload it again.",
    pdfium.FPDF_ERR_SECURITY: (
        "The PDF is protected in a way that the service cannot open. Save it without protection and upload it again."
    ),
}
_TAIL_BYTES = 4_096
_END_MARK = b"%%EOF"
# So many pages are looked through for images, to tell a scan from an empty document.
_MAX_PAGES_LOOKED_AT = 20
_MAX_ANNOTATIONS = 1_000


@contextmanager
def opened(content: bytes, limits: ReadingLimits) -> Iterator[PdfDocument]:
    """Opens a document and closes it at the end of the block; `content` must live as long. Raises UnreadableFile when
    the document cannot be read whole or has too many pages."""
    raw = pdfium.FPDF_LoadMemDocument64(content, len(content), None)
    if not raw:
        raise UnreadableFile(_REASONS.get(pdfium.FPDF_GetLastError(), DAMAGED))
    document = PdfDocument(raw)
    try:
        _check(document, content, limits)
        yield document
    finally:
        document.close()


def open_page(document: PdfDocument, index: int) -> PdfPage | None:
    """Opens a page, with what was filled into its form fields as part of its text. Returns None for a page that the
    file counts but does not have."""
    try:
        page = document[index]
        if _is_filled_in(page) and pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY) == pdfium.FLATTEN_SUCCESS:
            page.close()
            page = document[index]
    except PdfiumError:
        return None
    return page


def _is_filled_in(page: PdfPage) -> bool:
    """Tells whether the page has form fields or typed remarks."""
    for index in range(min(pdfium.FPDFPage_GetAnnotCount(page), _MAX_ANNOTATIONS)):
        annotation = pdfium.FPDFPage_GetAnnot(page, index)
        subtype = pdfium.FPDFAnnot_GetSubtype(annotation)
        pdfium.FPDFPage_CloseAnnot(annotation)
        if subtype in (pdfium.FPDF_ANNOT_WIDGET, pdfium.FPDF_ANNOT_FREETEXT):
            return True
    return False


def _check(document: PdfDocument, content: bytes, limits: ReadingLimits) -> None:
    whole = pdfium.FPDF_DocumentHasValidCrossReferenceTable(document) or _END_MARK in content[-_TAIL_BYTES:]
    if not whole:
        raise UnreadableFile(DAMAGED)
    if len(document) < 1:
        raise UnreadableFile("The PDF has no pages.")
    # A damaged file can claim any number of pages, so the number counts only when the page beyond the limit exists.
    if len(document) > limits.max_pages and open_page(document, limits.max_pages):
        raise FileTooLong(
            f"The PDF has {len(document):,} pages; up to {limits.max_pages:,} are read. Split it and upload the parts."
        )


def is_dynamic_form(document: PdfDocument) -> bool:
    """Tells whether the document is an XFA form, whose pages are made by the program that opens it."""
    return document.get_formtype() in (pdfium.FORMTYPE_XFA_FULL, pdfium.FORMTYPE_XFA_FOREGROUND)


def without_text(document: PdfDocument) -> UnreadableFile:
    """Returns the error that says why nothing can be read in a document that has pages."""
    if is_dynamic_form(document):
        return UnreadableFile(
            "The PDF is a dynamic form whose text only its own program shows. Print it to a new PDF and upload that."
        )
    if document.count_attachments():
        return UnreadableFile(
            "The PDF holds no text, only other files attached to it. Save those files and upload them."
        )
    if _has_image(document):
        return UnreadableFile(
            "The PDF holds no text, only images. It is probably a scan: run text recognition (OCR) on it and upload it "
            "again."
        )
    return UnreadableFile("The PDF holds no text.")


def _has_image(document: PdfDocument) -> bool:
    for index in range(min(len(document), _MAX_PAGES_LOOKED_AT)):
        page = open_page(document, index)
        if page is None:
            continue
        try:
            if any(page.get_objects((pdfium.FPDF_PAGEOBJ_IMAGE,), max_depth=3)):
                return True
        finally:
            page.close()
    return False
