"""PDFs that are not read, and why; and damaged ones that are."""

import resource
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from proviso_service.reading.model import ParsedDocument, ReadingLimits, UnreadableFile
from proviso_service.reading.pdf import parse_pdf
from tests.support.pdf_files import CATALOG, FONT, HELLO, drawn, hello, lines, page_object, stream, together, written

_ONE_PAGE = b"<</Type/Pages/Kids[3 0 R]/Count 1>>"
_MEMORY_BYTES = 256 * 1024 * 1024
_TIME_LIMIT_S = 60.0


def _read(content: bytes, limits: ReadingLimits | None = None) -> ParsedDocument:
    return parse_pdf(content, limits or ReadingLimits())


def _reason(content: bytes, limits: ReadingLimits | None = None) -> str:
    with pytest.raises(UnreadableFile) as refused:
        _read(content, limits)
    return refused.value.message


def _image(canvas: Canvas) -> None:
    # A picture of one grey point, as wide as the page.
    canvas.drawImage(ImageReader(BytesIO(b"P5 1 1 255\n\x80")), 0, 0, 595, 842)


@pytest.mark.parametrize("strength", [40, 128])
def test_a_password_is_to_be_removed(strength: int) -> None:
    locked = drawn(lines("Secret."), encrypt=StandardEncryption("user", "owner", strength=strength))
    assert _reason(locked) == "The PDF is protected by a password. Remove the password and upload it again."


def test_a_password_that_only_the_owner_needs_is_no_obstacle() -> None:
    content = drawn(lines("Not for printing."), encrypt=StandardEncryption("", "owner", canPrint=0, canCopy=0))
    assert _read(content).text == "Not for printing."


def test_a_scan_without_text_needs_text_recognition() -> None:
    assert _reason(drawn(_image, _image)) == (
        "The PDF holds no text, only images. It is probably a scan: run text recognition (OCR) on it and upload it"
        " again."
    )


def test_a_scan_with_nothing_but_page_numbers_needs_text_recognition() -> None:
    pages = [together(_image, lines(f"Page {n} of 4", top=30)) for n in range(1, 5)]
    assert "text recognition (OCR)" in _reason(drawn(*pages))


def test_a_document_that_is_a_scan_in_part_is_read() -> None:
    parsed = _read(drawn(_image, lines("A typed annex."), _image))
    assert parsed.text == "A typed annex."
    assert [page.number for page in parsed.pages] == [2]


def test_blank_pages_hold_no_text() -> None:
    assert _reason(drawn(lines(), lines())) == "The PDF holds no text."


@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.9, 0.99])
def test_a_file_that_is_cut_off_is_to_be_uploaded_again(share: float) -> None:
    content = drawn(*(lines(f"Clause {number} of many.") for number in range(40)))
    assert _reason(content[: int(len(content) * share)]) == (
        "The file is not a whole PDF: it is damaged, or cut off. Upload it again from the original."
    )


@pytest.mark.parametrize(
    "content",
    [
        b"%PDF-1.4\n",
        b"%PDF-1.7\n" + bytes(range(256)) * 40,
        b"%PDF-1.4\nHello, this is text.\n%%EOF\n",
        b"%PDF-1.4\n1 0 obj\n1 0 R\nendobj\ntrailer\n<</Root 1 0 R/Size 2>>\n%%EOF\n",
    ],
)
def test_garbage_behind_the_mark_is_damaged(content: bytes) -> None:
    assert _reason(content).startswith("The file is not a whole PDF")


def test_an_index_that_lost_its_place_is_made_anew() -> None:
    content = hello().replace(b"%PDF-1.5\n", b"%PDF-1.5\n% moved by a careless program\n")
    assert _read(content).text == "Hello world"


def test_a_file_without_pages_says_so() -> None:
    assert _reason(written([CATALOG, b"<</Type/Pages/Kids[]/Count 0>>"])) == "The PDF has no pages."


@pytest.mark.parametrize(
    "tree",
    [
        b"<</Type/Pages/Kids[3 0 R 2 0 R]/Count 2>>",
        b"<</Type/Pages/Kids[3 0 R 6 0 R]>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1/Parent 6 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 900000>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 2000000000>>",
        b"<</Type/Pages/Kids[3 0 R]/Count -5>>",
    ],
    ids=["itself", "its parent", "parents", "too many", "far too many", "less than none"],
)
def test_a_page_tree_that_runs_in_circles_or_counts_wrong_is_read_as_far_as_there_are_pages(tree: bytes) -> None:
    begun = time.process_time()
    parsed = _read(hello(tree, b"<</Type/Pages/Kids[2 0 R 3 0 R]/Parent 2 0 R>>"))
    assert set(parsed.text.split()) == {"Hello", "world"}
    assert time.process_time() - begun < 5


def test_a_page_tree_of_nothing_but_itself_holds_nothing() -> None:
    assert "PDF" in _reason(hello(b"<</Type/Pages/Kids[2 0 R]/Count 1>>"))


def test_a_stream_that_is_its_own_length_and_contents_that_are_their_own_end() -> None:
    looped = [CATALOG, _ONE_PAGE, page_object(), b"[4 0 R 4 0 R]", FONT]
    assert _reason(written(looped)) == "The PDF holds no text."
    own_length = HELLO.replace(b"/Length 43", b"/Length 4 0 R")
    assert _read(written([CATALOG, _ONE_PAGE, page_object(), own_length, FONT])).text == "Hello world"


def test_a_drawing_that_draws_itself_ends() -> None:
    resources = b"/Font<</F1 5 0 R>>/XObject<</X 6 0 R>>"
    form = b"/Type/XObject/Subtype/Form/BBox[0 0 595 842]/Resources<</XObject<</X 6 0 R>>>>"
    contents = stream(b"/X Do BT /F1 12 Tf 72 700 Td (Hello world) Tj ET")
    objects = [CATALOG, _ONE_PAGE, page_object(resources=resources), contents, FONT, stream(b"/X Do", form)]
    assert _read(written(objects)).text == "Hello world"


def test_too_many_pages_are_refused_before_any_is_read() -> None:
    content = hello(b"<</Type/Pages/Kids[" + b"3 0 R " * 5_000 + b"]/Count 5000>>")
    begun = time.process_time()
    assert _reason(content) == "The PDF has 5,000 pages; up to 3,000 are read. Split it and upload the parts."
    assert time.process_time() - begun < 1


def test_as_many_pages_as_allowed_are_read() -> None:
    content = drawn(*(lines(f"Clause {number}.") for number in range(4)))
    assert len(_read(content, ReadingLimits(max_pages=4)).pages) == 4
    assert "has 4 pages; up to 3" in _reason(content, ReadingLimits(max_pages=3))


def test_more_text_than_allowed_ends_the_reading() -> None:
    content = drawn(*(lines(*["Some words of text."] * 40) for _ in range(20)))
    assert _reason(content, ReadingLimits(max_text_chars=5_000)).startswith("The text is longer than 5,000 characters")


def test_text_set_sideways_counts_as_text_too() -> None:
    def aslant(canvas: Canvas) -> None:
        canvas.rotate(45)
        lines(*["Some words of text."] * 40, top=300, left=300)(canvas)

    content = drawn(together(lines("Upright."), aslant))
    assert _reason(content, ReadingLimits(max_text_chars=500)).startswith("The text is longer than 500 characters")


def test_a_dynamic_form_is_to_be_printed() -> None:
    catalog = b"<</Type/Catalog/Pages 2 0 R/AcroForm<</XFA 6 0 R/Fields[]>>/NeedsRendering true>>"
    form = stream(b"<xdp:xdp xmlns:xdp='http://ns.adobe.com/xdp/'><template/></xdp:xdp>")
    objects = [catalog, _ONE_PAGE, page_object(), stream(b""), FONT, form]
    assert _reason(written(objects)) == (
        "The PDF is a dynamic form whose text only its own program shows. Print it to a new PDF and upload that."
    )


def test_the_notice_in_place_of_a_dynamic_form_is_not_its_text() -> None:
    catalog = b"<</Type/Catalog/Pages 2 0 R/AcroForm<</XFA 6 0 R/Fields[]>>/NeedsRendering true>>"
    notice = stream(
        b"BT /F1 12 Tf 72 700 Td (Please wait...) Tj 0 -30 Td (If this message is not eventually replaced by the proper"
        b" contents of the document, your PDF viewer may not be able to display this type of document.) Tj ET"
    )
    form = stream(b"<xdp:xdp xmlns:xdp='http://ns.adobe.com/xdp/'><template/></xdp:xdp>")
    assert "dynamic form" in _reason(written([catalog, _ONE_PAGE, page_object(), notice, FONT, form]))


def test_files_in_a_portfolio_are_to_be_uploaded_themselves() -> None:
    catalog = b"<</Type/Catalog/Pages 2 0 R/Names<</EmbeddedFiles<</Names[(a.pdf) 6 0 R]>>>>/Collection<<>>>>"
    attached = b"<</Type/Filespec/F(a.pdf)/UF(a.pdf)/EF<</F 7 0 R>>>>"
    objects = [catalog, _ONE_PAGE, page_object(), stream(b""), FONT, attached, stream(b"%PDF-", b"/Type/EmbeddedFile")]
    assert _reason(written(objects)) == (
        "The PDF holds no text, only other files attached to it. Save those files and upload them."
    )


def test_very_many_pieces_of_text_on_a_page_take_time_in_proportion() -> None:
    pieces = b"".join(b"1 0 0 1 %d %d Tm (w) Tj " % (20 + 11 * (i % 50), 800 - i // 50) for i in range(20_000))
    begun = time.process_time()
    parsed = _read(written([CATALOG, _ONE_PAGE, page_object(), stream(b"BT /F1 1 Tf " + pieces + b"ET"), FONT]))
    assert parsed.text.count("w") == 20_000
    assert time.process_time() - begun < 10


def test_positions_beyond_all_numbers_are_no_obstacle() -> None:
    huge = b"1%b" % (b"0" * 38)
    contents = stream(
        b"q %b 0 0 %b 0 0 cm %b 0 0 %b 0 0 cm BT /F1 12 Tf 72 700 Td (far away) Tj ET 0 0 5 5 re S Q\n"
        b"0 0 0 0 0 0 cm BT /F1 0 Tf (nothing) Tj ET\n" % (huge, huge, huge, huge)
    )
    objects = [CATALOG, b"<</Type/Pages/Kids[3 0 R 6 0 R]/Count 2>>", page_object(), HELLO, FONT]
    content = written([*objects, page_object(contents=7), contents])
    assert _read(content).text.startswith("Hello world")


def _stream_bomb() -> bytes:
    """A stream that grows by a thousand times."""
    packer = zlib.compressobj(9)
    packed = b"".join([packer.compress(b" " * 1_000_000) for _ in range(400)] + [packer.flush()])
    return written([CATALOG, _ONE_PAGE, page_object(), stream(packed, b"/Filter/FlateDecode"), FONT])


def _drawing_bomb() -> bytes:
    """A drawing that draws itself twice."""
    form = b"/Type/XObject/Subtype/Form/BBox[0 0 595 842]/Resources<</XObject<</X 6 0 R>>>>"
    page = page_object(resources=b"/XObject<</X 6 0 R>>")
    return written([CATALOG, _ONE_PAGE, page, stream(b"/X Do"), FONT, stream(b"/X Do /X Do", form)])


@pytest.mark.parametrize("bomb", [_stream_bomb, _drawing_bomb])
def test_a_bomb_ends_at_the_limits_of_its_process(bomb: Callable[[], bytes], tmp_path: Path) -> None:
    """As in the process that files are read in: it is out of memory or out of time, and takes nothing else with it."""
    file = tmp_path / "bomb.pdf"
    file.write_bytes(bomb())
    script = (
        "import sys; from pathlib import Path; from proviso_service.reading.canonical import ReadingLimits;"
        "from proviso_service.reading.pdf import parse_pdf;"
        "parse_pdf(Path(sys.argv[1]).read_bytes(), ReadingLimits())"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script, str(file)],
        preexec_fn=_confine,
        capture_output=True,
        timeout=_TIME_LIMIT_S,
        check=False,
    )
    assert ended.returncode != 0


def _confine() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
