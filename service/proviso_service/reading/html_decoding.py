"""Bytes of a web page to characters, as browsers decide it: a byte order mark, what the page declares near its start,
then UTF-8 where the bytes are that, then Windows-1252."""

import codecs
import re
from collections.abc import Mapping

from proviso_service.errors import UnsupportedDocument

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
    | dict.fromkeys(("iso-8859-11", "iso8859-11", "tis-620", "dos-874"), "cp874")
    | dict.fromkeys(("gb2312", "gbk", "chinese", "gb_2312-80", "x-gbk", "iso-ir-58"), "gb18030")
    | dict.fromkeys(("big5", "big5-hkscs", "cn-big5", "x-x-big5"), "big5hkscs")
    | dict.fromkeys(("shift_jis", "shift-jis", "sjis", "x-sjis", "ms_kanji", "windows-31j"), "cp932")
    | dict.fromkeys(("euc-kr", "ks_c_5601-1987", "ksc5601", "ks_c_5601-1989", "korean", "windows-949"), "cp949")
    | dict.fromkeys(("macintosh", "mac", "x-mac-roman"), "mac-roman")
    | {"x-mac-cyrillic": "mac-cyrillic", "x-euc-jp": "euc-jp", "iso-8859-8-i": "iso-8859-8"}
)
_KNOWN = re.compile(
    r"utf-8|gb18030|euc-jp|iso-2022-jp|koi8-[ru]|ibm866|cp866|(?:windows-|cp|x-cp)125[0-8]|windows-874"
    r"|iso[-_]?8859-(?:[2-8]|1[03-6])"
)


def decode_html(content: bytes) -> str:
    """The characters; those that are not of the page's encoding become U+FFFD. Raises UnsupportedDocument for binary
    data."""
    text = _decode(content)
    if "\0" in text:
        raise UnsupportedDocument("The file holds binary data, not a web page. Save the page as HTML and upload that.")
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
    """The encoding that a page names; "" for none or one that is not known."""
    found = _XML.match(head) or _META.search(_COMMENT.sub(b"", head))
    label = found[1].decode("ascii").strip().lower() if found else ""
    name = _LABELS.get(label, label)
    if name not in _LABELS.values() and not _KNOWN.fullmatch(name):
        return ""
    return name.removeprefix("x-")
