"""PDF files for tests: drawn with reportlab, or written by hand where a file has to be wrong."""

from collections.abc import Callable, Sequence
from io import BytesIO
from typing import Any

from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import SimpleDocTemplate

LEFT = 72.0
TOP = 760.0
LEADING = 14.0

Page = Callable[[Canvas], None]


def drawn(*pages: Page, **options: Any) -> bytes:
    """A PDF with a page for each function, of A4 size; `options` are those of the canvas."""
    file = BytesIO()
    canvas = Canvas(file, pagesize=(595, 842), invariant=True, **options)
    for page in pages:
        canvas.setFont("Times-Roman", 11)
        page(canvas)
        canvas.showPage()
    canvas.save()
    return file.getvalue()


def lines(*texts: str, top: float = TOP, left: float = LEFT, leading: float = LEADING, font: str = "") -> Page:
    """Draws lines under each other; an empty one leaves its place blank. `font` is a name and a size."""

    def draw(canvas: Canvas) -> None:
        if font:
            name, _, size = font.rpartition(" ")
            canvas.setFont(name, float(size))
        for index, text in enumerate(texts):
            if text:
                canvas.drawString(left, top - index * leading, text)
        canvas.setFont("Times-Roman", 11)

    return draw


def together(*parts: Page) -> Page:
    """Draws several things on one page, in this order."""

    def draw(canvas: Canvas) -> None:
        for part in parts:
            part(canvas)

    return draw


def laid_out(story: Sequence[Any]) -> bytes:
    """A PDF of flowables: paragraphs, tables."""
    file = BytesIO()
    SimpleDocTemplate(file, pagesize=(595, 842), invariant=True).build(list(story))
    return file.getvalue()


def written(objects: Sequence[bytes], *, trailer: bytes = b"", root: int = 1) -> bytes:
    """A PDF with these objects, numbered from 1, whether they make sense or not."""
    content = b"%PDF-1.5\n"
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(content))
        content += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    return content + (
        b"xref\n0 %d\n0000000000 65535 f \n%btrailer\n<</Size %d/Root %d 0 R%b>>\nstartxref\n%d\n%%%%EOF\n"
        % (size, table, size, root, trailer, len(content))
    )


def stream(content: bytes, entries: bytes = b"") -> bytes:
    return b"<</Length %d%b>>\nstream\n%b\nendstream" % (len(content), entries, content)


CATALOG = b"<</Type/Catalog/Pages 2 0 R>>"
FONT = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
HELLO = stream(b"BT /F1 12 Tf 72 700 Td (Hello world) Tj ET")


def page_object(parent: int = 2, contents: int = 4, resources: bytes = b"/Font<</F1 5 0 R>>") -> bytes:
    """A page whose content stream is object 4 and whose font is object 5."""
    return b"<</Type/Page/Parent %d 0 R/MediaBox[0 0 595 842]/Contents %d 0 R/Resources<<%b>>>>" % (
        parent,
        contents,
        resources,
    )


def hello(pages: bytes = b"<</Type/Pages/Kids[3 0 R]/Count 1>>", *more: bytes, catalog: bytes = CATALOG) -> bytes:
    """A PDF that says "Hello world" on the page that is object 3; `pages` is its page tree, `more` are the objects from
    number 6 on."""
    return written([catalog, pages, page_object(), HELLO, FONT, *more])
