"""Reads the XML of a package's parts: short names for its elements, parsing that resolves and fetches nothing, and the
parts by their role in the document."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from typing import Any, Protocol

from lxml import etree

from proviso_service.reading.docx_package import Package, PackagePart, damaged, resolve
from proviso_service.reading.model import UnreadableFile

_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_STRICT_WORD = "http://purl.oclc.org/ooxml/wordprocessingml/main"
_ATTRIBUTE, _STRICT_ATTRIBUTE = f"{{{_WORD}}}", f"{{{_STRICT_WORD}}}"
_PREFIXES = {
    f"{{{_WORD}": "w:",
    f"{{{_STRICT_WORD}": "w:",
    "{http://schemas.openxmlformats.org/markup-compatibility/2006": "mc:",
    "{http://schemas.openxmlformats.org/officeDocument/2006/math": "m:",
    "{http://purl.oclc.org/ooxml/officeDocument/math": "m:",
    "{http://schemas.openxmlformats.org/package/2006/relationships": "rel:",
}
_BODY_TAGS = tuple(
    f"{{{namespace}}}{name}"
    for namespace, names in (
        (_WORD, ("body", "p", "tbl", "sdt", "customXml")),
        (_STRICT_WORD, ("body", "p", "tbl", "sdt", "customXml")),
        ("http://schemas.openxmlformats.org/markup-compatibility/2006", ("AlternateContent",)),
    )
    for name in names
)
_SAFE = {
    "resolve_entities": False,
    "load_dtd": False,
    "no_network": True,
    "huge_tree": False,
    "remove_comments": True,
    "remove_pis": True,
}
_TRANSPARENT = frozenset({"w:sdt", "w:sdtContent", "w:customXml", "w:smartTag", "w:ins", "w:moveTo"})
_OFF = frozenset({"0", "false", "off"})
_MAX_DIGITS = 9


class Element(Protocol):
    """An element of a part, with the little of it that this reader uses."""

    @property
    def tag(self) -> str: ...

    @property
    def text(self) -> str | None: ...

    def get(self, name: str, default: str = "") -> str: ...

    def getparent(self) -> "Element": ...

    def getroottree(self) -> Any: ...

    def __iter__(self) -> Iterator["Element"]: ...


def kind(element: Element) -> str:
    """Returns the element's name, such as "w:p", whichever of Word's two namespaces the document uses; "" for elements
    of other namespaces."""
    return _kind(element.tag)


@lru_cache(maxsize=512)
def _kind(tag: str) -> str:
    namespace, _, name = tag.rpartition("}")
    prefix = _PREFIXES.get(namespace)
    return prefix + name if prefix else ""


def attribute(element: Element, name: str) -> str:
    """Returns an attribute of Word's namespace; "" where it is missing."""
    return element.get(_ATTRIBUTE + name) or element.get(_STRICT_ATTRIBUTE + name) or ""


def child(element: Element | None, wanted: str) -> Element | None:
    """Returns the first child of that kind; None where there is none."""
    if element is not None:
        for found in element:
            if kind(found) == wanted:
                return found
    return None


def children(element: Element | None) -> Mapping[str, Element]:
    """Returns the children by their kind, for elements such as properties, which hold each kind once."""
    return {} if element is None else {kind(found): found for found in element}


def value(element: Element | None) -> str:
    """Returns the `w:val` of a property; "" where it is not set."""
    return "" if element is None else attribute(element, "val")


def integer(text: str) -> int | None:
    """Returns the number; None for anything that is not a number of up to nine digits."""
    text = text.strip()
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdecimal() and len(digits) <= _MAX_DIGITS else None


def is_on(element: Element | None) -> bool | None:
    """Tells whether a property such as bold is on; None where it is not set."""
    return None if element is None else attribute(element, "val") not in _OFF


def content_of(container: Iterable[Element]) -> Iterator[Element]:
    """Yields the children, and looks through content controls, insertions and the like."""
    under_way = [iter(container)]
    while under_way:
        for found in under_way[-1]:
            name = kind(found)
            if name in _TRANSPARENT:
                under_way.append(iter(found))
                break
            if name == "mc:AlternateContent":
                under_way.append(iter(alternative(found)))
                break
            yield found
        else:
            under_way.pop()


def alternative(alternatives: Element) -> Iterable[Element]:
    """Returns the one of several renderings of the same content that is read."""
    chosen = child(alternatives, "mc:Choice")
    chosen = child(alternatives, "mc:Fallback") if chosen is None else chosen
    return [] if chosen is None else chosen


def tree(part: PackagePart) -> Element:
    """Returns the root of a part. Raises UnreadableFile."""
    with _reasons():
        root: Element = etree.parse(part, etree.XMLParser(**_SAFE)).getroot()
    _refuse_declarations(root)
    return root


def body_blocks(part: PackagePart) -> Iterator[Element]:
    """Yields the blocks of a document's body; each is freed once the next is asked for. Raises UnreadableFile."""
    checked = False
    body = None
    with _reasons():
        for event, element in etree.iterparse(part, events=("start", "end"), tag=_BODY_TAGS, **_SAFE):
            if not checked:
                _refuse_declarations(element)
                checked = True
            if event == "start":
                body = element if body is None and kind(element) == "w:body" else body
            elif body is not None and element.getparent() is body:
                yield element
                element.clear()
                while element.getprevious() is not None:
                    del body[0]
    if body is None:
        raise damaged()


def _refuse_declarations(element: Element) -> None:
    """Raises UnreadableFile for a document type declaration: the entities of an XML bomb need one, and Word never
    writes one."""
    if element.getroottree().docinfo.doctype:
        raise UnreadableFile(
            "The Word document declares XML entities, which Word never does. Save it from Word and upload the new file."
        )


@contextmanager
def _reasons() -> Iterator[None]:
    try:
        yield
    except etree.XMLSyntaxError as error:
        if "depth" in str(error).lower():
            raise UnreadableFile(
                "The Word document is nested too deeply to be read. Open it in Word and save it again."
            ) from error
        raise damaged() from error


_DOCUMENT = "word/document.xml"
_MAX_RUNNING_PARTS = 200


class WordParts:
    """The parts of a Word document by their role. Raises UnreadableFile for a package without a Word document, and for
    parts that cannot be read."""

    def __init__(self, package: Package) -> None:
        self._package = package
        main = next((target for relation, target in self._relations("") if relation == "officeDocument"), _DOCUMENT)
        if main not in package or not main.startswith("word/"):
            raise UnreadableFile(
                "The file is an archive without a Word document in it. Save the document from Word as .docx."
            )
        self._main = main
        self._related = self._relations(main)

    def document(self) -> AbstractContextManager[PackagePart]:
        """Opens the part that holds the document's body."""
        return self._package.open(self._main)

    def related(self, relation: str) -> Element | None:
        """Returns the root of a part such as "styles"; None where there is none."""
        name = next((target for found, target in self._related if found == relation), "")
        return self._root(name) if name in self._package else None

    def notes(self, note_kind: str) -> dict[str, Element]:
        """Returns footnotes or endnotes by their id, without the lines that separate them from the text."""
        root = self.related(f"{note_kind}s")
        return {
            attribute(note, "id"): note
            for note in ([] if root is None else root)
            if kind(note) == f"w:{note_kind}" and attribute(note, "type") in ("", "normal")
        }

    def running(self) -> Iterator[Element]:
        """Yields the roots of the running headers, then those of the footers."""
        for wanted in ("header", "footer"):
            names = [target for relation, target in self._related if relation == wanted and target in self._package]
            yield from (self._root(name) for name in sorted(set(names))[:_MAX_RUNNING_PARTS])

    def _relations(self, name: str) -> list[tuple[str, str]]:
        """Returns what a part refers to, or the package itself for "": pairs of the kind of relation and the name of
        the other part."""
        folder, _, file = name.rpartition("/")
        path = f"{folder}/_rels/{file}.rels".lstrip("/")
        if path not in self._package:
            return []
        return [
            (element.get("Type", "").rpartition("/")[2], resolve(name, element.get("Target", "")))
            for element in self._root(path)
            if kind(element) == "rel:Relationship" and element.get("TargetMode") != "External"
        ]

    def _root(self, name: str) -> Element:
        with self._package.open(name) as part:
            return tree(part)
