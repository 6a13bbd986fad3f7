"""Files that hold something else than their name says."""

import io
import zipfile

import pytest

from proviso_service.reading.formats import HTML, MARKDOWN, PDF, PLAIN_TEXT, WORD, Format, check_signature
from proviso_service.reading.model import UnreadableFile

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def _archive(*names: str, mimetype: str = "") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        if mimetype:
            archive.writestr("mimetype", mimetype, zipfile.ZIP_STORED)
        for name in names:
            archive.writestr(name, "<xml/>")
    return buffer.getvalue()


DOCX = _archive("[Content_Types].xml", "word/document.xml")


@pytest.mark.parametrize(
    ("named", "content"),
    [
        (PDF, b"%PDF-1.7\n"),
        (PDF, b"HTTP/1.1 200 OK\r\n\r\n%PDF-1.4\n"),
        (WORD, DOCX),
        (WORD, _archive("someone/elses.xml")),
        (HTML, b"<!DOCTYPE html><p>Rent"),
        (HTML, b"<p>Rent</p>"),
        (MARKDOWN, b"<html>in Markdown</html>"),
        (PLAIN_TEXT, b"\xef\xbb\xbf\n <HTML><body>source</body>"),
        (PLAIN_TEXT, b"PDF files begin with %PDF-1.7."),
        (PLAIN_TEXT, b"PK is the mark of a zip"),
    ],
)
def test_what_the_name_says_is_let_through(named: Format, content: bytes) -> None:
    check_signature(named, content)


@pytest.mark.parametrize(
    ("named", "content", "reason"),
    [
        (WORD, b"%PDF-1.7", "The file is named .docx but holds a PDF document. Rename it to .pdf and upload it again."),
        (PDF, DOCX, "The file is named .pdf but holds a Word document. Rename it to .docx and upload it again."),
        (PLAIN_TEXT, b"\n%PDF-1.7", "The file is named .txt but holds a PDF document."),
        (HTML, DOCX, "The file is named .html but holds a Word document."),
        (PDF, b" <!doctype HTML><p>", "The file is named .pdf but holds a web page. Rename it to .html"),
        (WORD, _archive("xl/workbook.xml"), "holds an Excel workbook. Save it as PDF"),
        (WORD, _archive("ppt/presentation.xml"), "holds a PowerPoint presentation."),
        (WORD, _archive(mimetype="application/vnd.oasis.opendocument.text"), "holds an OpenDocument text."),
        (MARKDOWN, _archive("a.md"), "holds a compressed archive. Unpack it"),
        (WORD, OLE + b"W\0o\0r\0d\0", "holds a document of an old Office version. Save it as .docx or PDF"),
        (WORD, OLE + "EncryptedPackage".encode("utf-16-le"), "protected with a password. Remove the password"),
        (WORD, b"{\\rtf1 Rent}", "holds a rich text document. Save it as .docx or PDF"),
        (PDF, b"\x89PNG\r\n", "holds an image. Have its text recognised"),
        (PLAIN_TEXT, b"\x7fELF\x02", "holds a program."),
        (PDF, b"Rent is due.", "The file is named .pdf but holds no PDF document. It may be damaged"),
        (WORD, b"\x00\x01\x02", "The file is named .docx but holds no Word document."),
        (WORD, b"PK\x01\x02 cut", "The file is named .docx but holds no Word document."),
    ],
)
def test_anything_else_is_refused_with_what_to_do(named: Format, content: bytes, reason: str) -> None:
    with pytest.raises(UnreadableFile) as refused:
        check_signature(named, content)
    assert reason in refused.value.message


@pytest.mark.parametrize("named", [PDF, WORD, HTML, MARKDOWN, PLAIN_TEXT])
def test_an_empty_file_holds_no_text(named: Format) -> None:
    with pytest.raises(UnreadableFile, match=r"^The file holds no text\.$"):
        check_signature(named, b"")
