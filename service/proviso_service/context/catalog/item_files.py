"""Reads the rules and references of an agent's folder."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from proviso_service.context.catalog.folder import (
    AGENT_FILE,
    AgentFolder,
    FolderLimits,
    NotText,
    Unreadable,
    read_bytes,
    read_text,
)
from proviso_service.context.catalog.schema import ItemFields, check_fields
from proviso_service.context.catalog.yaml_text import YamlText, read_markdown
from proviso_service.context.model import ItemType
from proviso_service.errors import FileFault, UnsupportedDocument


class ReferenceReader(Protocol):
    """Reads references that are not Markdown, away from the event loop and within limits."""

    def check(self, filename: str) -> None:
        """Raises UnsupportedDocument for a file name whose format cannot be read."""
        ...

    async def text(self, filename: str, content: bytes) -> str:
        """The text of a file. Raises UnsupportedDocument, whose message is for a person."""
        ...


_MARKDOWN = (".md", ".markdown")


@dataclass(frozen=True, slots=True)
class ItemDraft:
    """An item as its file has it. Its name stands in the file `at`, on `line`, in the field `name_field`."""

    type: ItemType
    file: str
    fields: ItemFields
    content: str
    at: str
    line: int
    name_field: str = "name"


@dataclass(frozen=True, slots=True)
class UnreadReference:
    """A reference whose text is still to be read. `load` returns its bytes and raises NotText; it blocks."""

    file: str
    fields: ItemFields
    line: int
    name_field: str
    load: Callable[[], bytes]

    def with_content(self, text: str) -> ItemDraft:
        """The item, now that its text is known."""
        return ItemDraft(ItemType.REFERENCE, self.file, self.fields, text, AGENT_FILE, self.line, self.name_field)


class ItemFiles:
    """Reads the items of a folder. `drafts` holds what it has found; what is wrong is added to `faults`."""

    def __init__(
        self, folder: AgentFolder, reader: ReferenceReader, limits: FolderLimits, faults: list[FileFault]
    ) -> None:
        self._folder = folder
        self._reader = reader
        self._limits = limits
        self.drafts: list[ItemDraft] = []
        self._faults = faults

    def read(
        self, rules: str, references: str, described: Mapping[str, ItemFields] | None, agent: YamlText
    ) -> list[UnreadReference]:
        """Reads the rules and the references of two folders, whose names are empty where there is no such folder.
        Blocks.

        `described` holds what `agent.yaml` says of references, by file name; None where `agent.yaml` could not be read.
        Returns the references that are not Markdown, whose text is still to be read."""
        for file in self._files(rules):
            if file.lower().endswith(_MARKDOWN):
                self._markdown(ItemType.RULE, file)
            else:
                self._fault(file, "is not a rule: rules are Markdown files (.md), directly in their folder")
        others = []
        for file in self._files(references):
            if file.lower().endswith(_MARKDOWN):
                self._markdown(ItemType.REFERENCE, file)
            else:
                others.append(file)
        return self._described(references, others, described, agent) if described is not None else []

    def _files(self, folder: str) -> list[str]:
        if not folder:
            return []
        try:
            return [f"{folder.rstrip('/')}/{name}" for name in self._folder.names(folder, self._limits.max_items)]
        except Unreadable as error:
            self._fault(folder, str(error))
            return []

    def _markdown(self, kind: ItemType, file: str) -> None:
        try:
            read = read_markdown(read_text(self._folder, file, self._limits.max_markdown_bytes))
        except NotText as error:
            self._faults.append(error.fault)
            return
        if read.fields is None:
            self._fault(file, "must begin with its fields (name, description) between two lines of ---", line=1)
            return
        if not read.body:
            self._fault(file, "says nothing below its fields")
        fields = check_fields(ItemFields, file, read.fields)
        if isinstance(fields, ItemFields):
            self.drafts.append(ItemDraft(kind, file, fields, read.body, file, read.fields.line_of(("name",))))
        else:
            self._faults += fields

    def _described(
        self, folder: str, files: list[str], described: Mapping[str, ItemFields], agent: YamlText
    ) -> list[UnreadReference]:
        """The references that are not Markdown, each with what `agent.yaml` says of it."""
        prefix = f"{folder.rstrip('/')}/"
        for name in described:
            if not folder or f"{prefix}{name}" not in files:
                line = agent.line_of(("reference_files", name))
                self._faults.append(FileFault(AGENT_FILE, line, f"reference_files.{name}", self._why_unknown(name)))
        pending = (self._pending(file, file.removeprefix(prefix), described, agent) for file in files)
        return [reference for reference in pending if reference]

    def _why_unknown(self, name: str) -> str:
        if name.lower().endswith(_MARKDOWN):
            return "describes a Markdown file, which has its fields at its own top"
        return "describes a file that is not among the references"

    def _pending(
        self, file: str, name: str, described: Mapping[str, ItemFields], agent: YamlText
    ) -> "UnreadReference | None":
        try:
            self._reader.check(file)
        except UnsupportedDocument as error:
            self._fault(file, error.message)
            return None
        if name not in described:
            self._fault(
                file, f"is not described: give it a name and a description under reference_files in {AGENT_FILE}"
            )
            return None
        line = agent.line_of(("reference_files", name, "name"))
        return UnreadReference(file, described[name], line, f"reference_files.{name}.name", lambda: self._load(file))

    def _load(self, file: str) -> bytes:
        return read_bytes(self._folder, file, self._limits.max_file_bytes)

    def _fault(self, file: str, description: str, line: int = 0) -> None:
        self._faults.append(FileFault(file, line, "", description))
