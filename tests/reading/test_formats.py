"""Which files are read."""

import subprocess
import sys

import pytest

from proviso_service.reading.formats import format_by_media_type, format_of
from proviso_service.reading.model import UnreadableFile


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
    with pytest.raises(UnreadableFile, match=r"The service reads PDF, .* and plain text \(\.pdf, "):
        format_of(filename)


@pytest.mark.parametrize(
    ("filename", "advice"),
    [
        ("lease.doc", "Save it as .docx or PDF and upload that."),
        ("LEASE.RTF", "Save it as .docx or PDF and upload that."),
        ("lease.odt", "Save it as .docx or PDF and upload that."),
        ("rent.xlsx", "Save it as PDF and upload that."),
        ("scan.TIFF", "Have its text recognised (OCR) and upload the result as PDF."),
        ("matter.zip", "Unpack it and upload the files that it holds."),
    ],
)
def test_files_that_can_be_turned_into_readable_ones_are_refused_with_how(filename: str, advice: str) -> None:
    with pytest.raises(UnreadableFile) as refused:
        format_of(filename)
    assert refused.value.message.endswith(f"are not read. {advice}")


def test_the_process_of_the_service_imports_no_parser() -> None:
    code = (
        "import sys, proviso_service.matters.service\n"
        "loaded = {name.partition('.')[0] for name in sys.modules}\n"
        "parsers = {'pypdfium2', 'pypdfium2_raw', 'docx', 'selectolax', 'markdown_it'}\n"
        "print(sorted(loaded & parsers))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert printed.stdout.strip() == "[]"


def test_an_unknown_media_type_is_refused() -> None:
    with pytest.raises(UnreadableFile):
        format_by_media_type("application/x-unknown")
