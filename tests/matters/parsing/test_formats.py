"""Which files are read."""

import pytest

from proviso_service.errors import UnsupportedDocument
from proviso_service.matters.parsing.canonical import ReadingLimits
from proviso_service.matters.parsing.formats import format_of, parse


@pytest.mark.parametrize(
    ("filename", "media_type"),
    [
        ("Lease.md", "text/markdown"),
        ("a.b.MARKDOWN", "text/markdown"),
        ("lease.TXT", "text/plain"),
        ("lease.text", "text/plain"),
        ("lease.PDF", "application/pdf"),
        ("lease.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        ("lease.htm", "text/html"),
    ],
)
def test_the_extension_says_the_format(filename: str, media_type: str) -> None:
    assert format_of(filename).media_type == media_type


@pytest.mark.parametrize("filename", ["lease.exe", "lease", ".md", "lease.", "lease.md.exe"])
def test_other_files_are_refused_with_what_is_read(filename: str) -> None:
    with pytest.raises(UnsupportedDocument, match=r"The service reads PDF, .* and plain text \(\.pdf, "):
        format_of(filename)


def test_an_unknown_media_type_is_refused() -> None:
    with pytest.raises(UnsupportedDocument):
        parse("application/x-unknown", b"text", ReadingLimits())
