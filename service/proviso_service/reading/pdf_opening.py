"""Opening a PDF, and why one is not read."""

from collections.abc import Iterator
from contextlib import contextmanager

import pypdfium2.raw as pdfium
from pypdfium2 import PdfDocument, PdfiumError, PdfPage

from proviso_service.errors import UnsupportedDocument
from proviso_service.reading.canonical import ReadingLimits

DAMAGED = "The file is not a whole PDF: it is damaged, or cut off. Upload it again from the original."
_REASONS = {
    pdfium.FPDF_ERR_PASSWORD: "The PDF is protected by a password. Remove the password and upload it again.",
    pdfium.FPDF_ERR_SECURITY: (
        "The PDF is protected in a way that the service cannot open. Save it without protection and upload it again."
    ),
}
_TAIL_BYTES = 4_096
_END_MARK = b"%%EOF"
# Looked through for images.
_MAX_PAGES_LOOKED_AT = 20
_MAX_ANNOTATIONS = 1_000


@contextmanager
def opened(content: bytes, limits: ReadingLimits) -> Iterator[PdfDocument]:
    """The document, closed at the end; until then `content` must live. Raises UnsupportedDocument when it cannot be
    read whole or has too many pages."""
    raw = pdfium.FPDF_LoadMemDocument64(content, len(content), None)
    if not raw:
        raise UnsupportedDocument(_REASONS.get(pdfium.FPDF_GetLastError(), DAMAGED))
    document = PdfDocument(raw)
    try:
        _check(document, content, limits)
        yield document
    finally:
        document.close()


def open_page(document: PdfDocument, index: int) -> PdfPage | None:
    """A page with what was filled in as part of its text; None for one that is counted but not there."""
    try:
        page = document[index]
        if _is_filled_in(page) and pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY) == pdfium.FLATTEN_SUCCESS:
            page.close()
            page = document[index]
    except PdfiumError:
        return None
    return page


def _is_filled_in(page: PdfPage) -> bool:
    """Whether there are form fields or typed remarks on it."""
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
        raise UnsupportedDocument(DAMAGED)
    if len(document) < 1:
        raise UnsupportedDocument("The PDF has no pages.")
    # The count that a file claims is believed only when there is such a page.
    if len(document) > limits.max_pages and open_page(document, limits.max_pages):
        raise UnsupportedDocument(
            f"The PDF has {len(document):,} pages; up to {limits.max_pages:,} are read. Split it and upload the parts."
        )


def is_dynamic_form(document: PdfDocument) -> bool:
    """Whether its pages are made only when it is opened, by a program that knows how."""
    return document.get_formtype() in (pdfium.FORMTYPE_XFA_FULL, pdfium.FORMTYPE_XFA_FOREGROUND)


def without_text(document: PdfDocument) -> UnsupportedDocument:
    """Why nothing is read in a document that has pages."""
    if is_dynamic_form(document):
        return UnsupportedDocument(
            "The PDF is a dynamic form whose text only its own program shows. Print it to a new PDF and upload that."
        )
    if document.count_attachments():
        return UnsupportedDocument(
            "The PDF holds no text, only other files attached to it. Save those files and upload them."
        )
    if _has_image(document):
        return UnsupportedDocument(
            "The PDF holds no text, only images. It is probably a scan: run text recognition (OCR) on it and upload it "
            "again."
        )
    return UnsupportedDocument("The PDF holds no text.")


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
