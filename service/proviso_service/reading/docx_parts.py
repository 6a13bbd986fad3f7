"""The parts of a Word document by what they are to it."""

from collections.abc import Iterator
from contextlib import AbstractContextManager

from proviso_service.errors import UnsupportedDocument
from proviso_service.reading.docx_package import Package, Part, resolve
from proviso_service.reading.docx_xml import Element, attribute, kind, tree

_DOCUMENT = "word/document.xml"
_MAX_RUNNING_PARTS = 200


class Parts:
    """Raises UnsupportedDocument for a package without a Word document, and for parts that cannot be read."""

    def __init__(self, package: Package) -> None:
        self._package = package
        main = next((target for relation, target in self._relations("") if relation == "officeDocument"), _DOCUMENT)
        if main not in package or not main.startswith("word/"):
            raise UnsupportedDocument(
                "The file is an archive without a Word document in it. Save the document from Word as .docx."
            )
        self._main = main
        self._related = self._relations(main)

    def document(self) -> AbstractContextManager[Part]:
        return self._package.open(self._main)

    def related(self, relation: str) -> Element | None:
        """The root of the part such as "styles"; None without one."""
        name = next((target for found, target in self._related if found == relation), "")
        return self._root(name) if name in self._package else None

    def notes(self, note_kind: str) -> dict[str, Element]:
        """Footnotes or endnotes by their id, without the lines that separate them from the text."""
        root = self.related(f"{note_kind}s")
        return {
            attribute(note, "id"): note
            for note in ([] if root is None else root)
            if kind(note) == f"w:{note_kind}" and attribute(note, "type") in ("", "normal")
        }

    def running(self) -> Iterator[Element]:
        """The roots of the running headers, then of the footers."""
        for wanted in ("header", "footer"):
            names = [target for relation, target in self._related if relation == wanted and target in self._package]
            yield from (self._root(name) for name in sorted(set(names))[:_MAX_RUNNING_PARTS])

    def _relations(self, name: str) -> list[tuple[str, str]]:
        """What a part, or with "" the package, refers to: the kind of relation and the name of the other part."""
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
