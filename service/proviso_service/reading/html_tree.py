"""Decodes a web page, builds its tree within bounds, and knows what its elements and styles mean.

The parser of HTML needs memory for every tag, and it looks upwards through open elements and back through attributes,
so its time grows with the square of their number. Pages far beyond any real one are refused before they are parsed. A
page that was written to get around these counts ends at the limits of the process that reads it."""

import codecs
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from proviso_service.reading.model import FileTooLong, UnreadableFile

_DECLARED_WITHIN_BYTES = 1024
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_META = re.compile(rb"<meta\s[^>]{0,500}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE)
_XML = re.compile(rb"\s*<\?xml\s[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9_.:-]{1,40})")
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_FALLBACK = "windows-1252"

# Labels of the WHATWG Encoding Standard that Python reads differently or does not know.
_LABELS: Mapping[str, str] = (
    dict.fromkeys(("unicode-1-1-utf-8", "utf8", "x-unicode20utf8"), "utf-8")
    # A page whose declaration can be read as ASCII is in no encoding of two bytes.
    | dict.fromkeys(("utf-16", "utf-16le", "utf-16be", "unicode", "csunicode", "iso-10646-ucs-2", "ucs-2"), "utf-8")
    | dict.fromkeys(("ansi_x3.4-1968", "ascii", "us-ascii", "cp1252", "x-cp1252", "x-user-defined"), "windows-1252")
    | dict.fromkeys(("iso-8859-1", "iso8859-1", "iso88591", "iso_8859-1", "latin1", "l1"), "windows-1252")
    | dict.fromkeys(("iso_8859-1:1987", "cp819", "ibm819", "csisolatin1", "iso-ir-100"), "windows-1252")
    | dict.fromkeys(("iso-8859-9", "iso8859-9", "iso88599", "iso_8859-9", "l5", "latin5", "x-cp1254"), "windows-1254")
    | dict.fromkeys(("iso-8859-11", "iso8859-11", "tis-620", "dos-874", "windows-874"), "cp874")
    | dict.fromkeys(("gb2312", "gbk", "chinese", "gb_2312-80", "x-gbk", "iso-ir-58"), "gb18030")
    | dict.fromkeys(("big5", "big5-hkscs", "cn-big5", "x-x-big5"), "big5hkscs")
    | dict.fromkeys(("shift_jis", "shift-jis", "sjis", "x-sjis", "ms_kanji", "windows-31j"), "cp932")
    | dict.fromkeys(("euc-kr", "ks_c_5601-1987", "ksc5601", "ks_c_5601-1989", "korean", "windows-949"), "cp949")
    | dict.fromkeys(("macintosh", "mac", "x-mac-roman"), "mac-roman")
    | {"x-mac-cyrillic": "mac-cyrillic", "x-euc-jp": "euc-jp", "iso-8859-8-i": "iso-8859-8"}
)
_KNOWN = re.compile(
    r"utf-8|gb18030|euc-jp|iso-2022-jp|koi8-[ru]|ibm866|cp866|(?:windows-|cp|x-cp)125[0-8]"
    r"|iso[-_]?8859-(?:[2-8]|1[03-6])"
)


def load_encodings() -> None:
    """Loads Python's tables of every encoding that a page may declare: a process that reads may open no file."""
    names = {*_LABELS.values(), "utf-16-le", "utf-16-be", "iso-2022-jp", "koi8-r", "koi8-u", "cp866"}
    names |= {f"cp125{number}" for number in range(9)} | {
        f"iso8859-{number}" for number in (*range(2, 9), *range(10, 17))
    }
    for name in names - {"iso8859-12"}:
        codecs.lookup(name)


def decode_html(content: bytes) -> str:
    """Returns the characters of a page; those that are not of its encoding become U+FFFD. Raises UnreadableFile for
    binary data."""
    text = _decode(content)
    if "\0" in text:
        raise UnreadableFile("The file holds binary data, not a web page. Save the page as HTML and upload that.")
    return text


def _decode(content: bytes) -> str:
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return content[len(mark) :].decode(encoding, "replace")
    if declared := _declared(content[:_DECLARED_WITHIN_BYTES]):
        return content.decode(declared, "replace")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode(_FALLBACK, "replace")


def _declared(head: bytes) -> str:
    """Returns the encoding that a page declares; "" for none, or for one that is not known."""
    found = _XML.match(head) or _META.search(_COMMENT.sub(b"", head))
    label = found[1].decode("ascii").strip().lower() if found else ""
    name = _LABELS.get(label, label)
    if name not in _LABELS.values() and not _KNOWN.fullmatch(name):
        return ""
    return name.removeprefix("x-")


MAX_TAGS = 1_000_000
"""A long annual report has half as many tags. Each takes about half a kilobyte until its text is put together."""
MAX_OPEN_ELEMENTS = 3_000
MAX_ATTRIBUTES = 5_000

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
# White space or a quote follows each attribute, and long values such as embedded images hold neither.
_MANY_ATTRIBUTES = re.compile(rf"<[a-zA-Z](?>(?:[^\s<>\"']*+[\s\"']++){{{MAX_ATTRIBUTES}}})")
# Elements that have no end tag, or that end where the next of their kind begins.
_NOT_NESTED = frozenset(
    {"area", "base", "basefont", "br", "col", "embed", "frame", "hr", "img", "input", "link", "meta", "page", "param"}
    | {"source", "track", "wbr", "body", "colgroup", "head", "html", "tbody", "td", "tfoot", "th", "thead", "tr"}
    | {"a", "button", "dd", "dt", "li", "nobr", "option", "p"}
)


def body_of(text: str) -> LexborNode | None:
    """Returns the body of a page, None where there is none. Raises UnreadableFile for a page that is out of bounds."""
    _check_bounds(text)
    # UTF-8 cannot hold lone surrogates, which a page in an encoding of two bytes may have.
    return LexborHTMLParser(text.encode("utf-8", "replace")).body


def _check_bounds(text: str) -> None:
    if text.count("<") > MAX_TAGS:
        raise FileTooLong(
            f"The page has more than {MAX_TAGS:,} tags. Save it as plain text or split it, and upload that."
        )
    if _MANY_ATTRIBUTES.search(text):
        raise UnreadableFile("The page has a tag with thousands of attributes. Save it as plain text or PDF.")
    open_elements: defaultdict[str, int] = defaultdict(int)
    depth = 0
    for match in _TAG.finditer(text):
        name = match[2].lower()
        if name in _NOT_NESTED:
            continue
        if not match[1]:
            open_elements[name] += 1
            depth += 1
        elif open_elements[name]:
            open_elements[name] -= 1
            depth -= 1
        if depth > MAX_OPEN_ELEMENTS:
            raise UnreadableFile("The page is nested too deeply to be read. Save it as plain text or PDF.")


BLOCKS = frozenset(
    """
    address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption
    figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li listing main menu nav ol p plaintext pre
    section summary table tbody td tfoot th thead tr ul xmp
    """.split()  # noqa: SIM905  # a list of so many literals is no easier to read
)
NOT_SHOWN = frozenset(
    {"area", "base", "colgroup", "head", "link", "map", "meta", "noframes", "noscript", "script", "style", "template"}
    | {"audio", "canvas", "embed", "iframe", "noembed", "object", "param", "svg", "video", "title", "rp", "rt"}
    | {"datalist", "select", "textarea", "ix:header", "ix:hidden"}
)
HEADINGS: Mapping[str, int] = {f"h{level}": level for level in range(1, 7)}
KEPT_SPACE = frozenset({"pre", "xmp", "listing", "plaintext"})
BOLD = frozenset({"b", "strong", "th", *HEADINGS})
UNDERLINED = frozenset({"u", "ins"})
NAVIGATION = "nav"
CHANGING_LOOK = BOLD | UNDERLINED | KEPT_SPACE | {"center", NAVIGATION}
LISTS = frozenset({"ol", "ul", "menu", "dir"})
CELLS = frozenset({"td", "th"})
PAGE_BREAK = "page"
"""An element of old filings that ends a page."""

_DECLARATION = re.compile(
    r"(?:\A|;)\s*(display|visibility|font-weight|font|text-align|text-decoration(?:-line)?|white-space"
    r"|list-style(?:-type)?|(?:page-)?break-(?:before|after))\s*:\s*([^;!]+)"
)
_BOLD_WEIGHTS = ("bold", "bolder", "600", "700", "800", "900")
_PAGE_VALUES = frozenset({"always", "page", "left", "right"})


@dataclass(frozen=True, slots=True)
class ElementStyle:
    """What the `style` attribute of an element sets; None for what it does not set."""

    display: str | None = None
    shown: bool = True
    bold: bool | None = None
    underlined: bool = False
    centred: bool | None = None
    keeps_space: bool | None = None
    list_type: str | None = None
    page_before: bool = False
    page_after: bool = False


PLAIN = ElementStyle()


def style_of(declarations: str) -> ElementStyle:
    """Reads the declarations of a `style` attribute."""
    found = {name: value.strip() for name, value in _DECLARATION.findall(declarations.lower())}
    if not found:
        return PLAIN
    weight = found.get("font-weight")
    align = found.get("text-align")
    space = found.get("white-space")
    display = found.get("display")
    bold_font = any(word in _BOLD_WEIGHTS for word in found.get("font", "").split())
    return ElementStyle(
        display=display,
        shown=display != "none" and found.get("visibility") not in ("hidden", "collapse"),
        bold=weight in _BOLD_WEIGHTS if weight else (bold_font or None),
        underlined="underline" in (found.get("text-decoration") or found.get("text-decoration-line", "")),
        centred=align in ("center", "-webkit-center") if align else None,
        keeps_space=space.startswith(("pre", "break-spaces")) and space != "pre-line" if space else None,
        list_type=found.get("list-style-type") or found.get("list-style"),
        page_before=(found.get("page-break-before") or found.get("break-before")) in _PAGE_VALUES,
        page_after=(found.get("page-break-after") or found.get("break-after")) in _PAGE_VALUES,
    )
