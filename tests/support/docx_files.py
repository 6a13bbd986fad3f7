"""Word files made for tests: by python-docx where it can, by their XML where it cannot."""

import io
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

import docx

_NAMESPACES = " ".join(
    f'xmlns:{prefix}="{uri}"'
    for prefix, uri in {
        "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "r": "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
        "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
        "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
        "v": "urn:schemas-microsoft-com:vml",
        "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
    }.items()
)
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'


def made_with_word(fill: Callable[[Any], None]) -> bytes:
    """A file as Word's default template gives it, filled by `fill`, which takes a python-docx document."""
    document = docx.Document()
    fill(document)
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def paragraph(text: str = "", *, properties: str = "", run_properties: str = "", content: str = "") -> str:
    """One `w:p`: a run with the text, then `content` as it is."""
    run = f'<w:r><w:rPr>{run_properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>' if text else ""
    return f"<w:p><w:pPr>{properties}</w:pPr>{run}{content}</w:p>"


def numbered(text: str, level: int = 0, list_id: int = 1, *, content: str = "") -> str:
    properties = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{list_id}"/></w:numPr>'
    return paragraph(text, properties=properties, content=content)


def level(
    index: int, text: str, style: str = "decimal", *, start: int | None = 1, more: str = "", suffix: str = ""
) -> str:
    """One `w:lvl` of a list; `more` are further elements of it."""
    begin = "" if start is None else f'<w:start w:val="{start}"/>'
    return (
        f'<w:lvl w:ilvl="{index}">{begin}<w:numFmt w:val="{style}"/>{more}{suffix}<w:lvlText w:val="{text}"/></w:lvl>'
    )


def definition(*levels: str, definition_id: int = 0) -> str:
    return f'<w:abstractNum w:abstractNumId="{definition_id}">{"".join(levels)}</w:abstractNum>'


def use(list_id: int = 1, definition_id: int = 0, overrides: str = "") -> str:
    return f'<w:num w:numId="{list_id}"><w:abstractNumId w:val="{definition_id}"/>{overrides}</w:num>'


def package(
    body: str,
    *,
    styles: str = "",
    numbering: str = "",
    footnotes: str = "",
    endnotes: str = "",
    document: str = "",
    strict: bool = False,
    parts: Mapping[str, bytes] | None = None,
) -> bytes:
    """A file of the parts given as the inside of their roots. `document` replaces the whole main part; `parts` adds or
    replaces parts by name."""
    related = {"styles": styles, "numbering": numbering, "footnotes": footnotes, "endnotes": endnotes}
    relations = "".join(
        f'<Relationship Id="{name}" Type="{_RELATIONS}/{name}" Target="{name}.xml"/>' for name in related
    )
    main = document or f"{DECLARATION}<w:document {_NAMESPACES}><w:body>{body}</w:body></w:document>"
    if strict:
        main = main.replace(
            "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
            "http://purl.oclc.org/ooxml/wordprocessingml/main",
        )
    files: dict[str, bytes] = {
        "_rels/.rels": _relationships(
            f'<Relationship Id="1" Type="{_RELATIONS}/officeDocument" Target="word/document.xml"/>'
        ),
        "word/_rels/document.xml.rels": _relationships(relations),
        "word/document.xml": main.encode(),
        **{f"word/{name}.xml": _root(name, inside) for name, inside in related.items() if inside},
        **(parts or {}),
    }
    return zipped(files)


def zipped(files: Mapping[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return file.getvalue()


def _root(name: str, inside: str) -> bytes:
    return f"{DECLARATION}<w:{name} {_NAMESPACES}>{inside}</w:{name}>".encode()


def _relationships(inside: str) -> bytes:
    return f'{DECLARATION}<Relationships xmlns="{_PACKAGE_RELATIONS}">{inside}</Relationships>'.encode()
