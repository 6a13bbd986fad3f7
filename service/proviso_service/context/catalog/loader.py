"""Reads an agent's folder: the result is the agent's definition, or everything that is wrong with the folder.

agent.yaml              name, description, the service's own tools, MCP servers
rules/*.md              fields at the top, then the rule
references/*            Markdown with fields at the top; other documents are described in agent.yaml
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from importlib import resources
from pathlib import Path

from proviso_service.concurrency import with_timeout
from proviso_service.context.catalog.catalog import AgentDefinition
from proviso_service.context.catalog.folder import AGENT_FILE, AgentFolder, FolderLimits, NotText, read_text
from proviso_service.context.catalog.item_files import ItemDraft, ItemFiles, ReferenceReader, UnreadReference
from proviso_service.context.catalog.items import CatalogItem, EffectiveMode, McpServer
from proviso_service.context.catalog.schema import AgentFields, check_fields
from proviso_service.context.catalog.server_fields import read_servers, tool_policy
from proviso_service.context.catalog.yaml_text import YamlText, read_yaml
from proviso_service.context.model import IncludeMode, ItemRef
from proviso_service.errors import CatalogInvalid, FileFault, UnsupportedDocument
from proviso_service.spelling import did_you_mean, near_misses

_AT_ONCE = 4


async def load_agent(
    root: Path,
    reader: ReferenceReader,
    environment: Mapping[str, str],
    own_tools: Collection[str],
    limits: FolderLimits | None = None,
) -> AgentDefinition:
    """Reads the folder `root`. `environment` fills in `${NAME}`, and `own_tools` are the names of the service's own
    tools.

    Raises CatalogInvalid with every fault, also where reading takes longer than the limit, and Unavailable where
    references cannot be read just now."""
    bounds = limits or FolderLimits()
    loading = _Loading(root, reader, environment, own_tools, bounds)
    too_slow = FileFault(".", 0, "", f"takes longer to read than {bounds.time_limit_s:g} s")
    return await with_timeout(bounds.time_limit_s, loading.run(), late=lambda: CatalogInvalid([too_slow]))


class _Loading:
    def __init__(
        self,
        root: Path,
        reader: ReferenceReader,
        environment: Mapping[str, str],
        own_tools: Collection[str],
        limits: FolderLimits,
    ) -> None:
        self._root = root
        self._folder = AgentFolder(root)
        self._reader = reader
        self._environment = environment
        self._own_tools = own_tools
        self._limits = limits
        self._faults: list[FileFault] = []
        self._text = YamlText({}, {(): 1})

    async def run(self) -> AgentDefinition:
        fields, drafts, pending = await asyncio.to_thread(self._read_folder)
        drafts += await self._read_pending(pending)
        self._check_together(drafts)
        servers = self._servers(fields) if fields else []
        if fields is None or self._faults:
            raise CatalogInvalid(sorted(self._faults, key=_place))
        items = tuple(_item(draft) for draft in drafts)
        return AgentDefinition(fields.name, fields.description, items, tool_policy(fields.proviso), tuple(servers))

    def _read_folder(self) -> tuple[AgentFields | None, list[ItemDraft], list[UnreadReference]]:
        """Reads everything that needs no reader of documents. The fields are None where `agent.yaml` has faults.
        Blocks."""
        if not self._root.is_dir():
            raise CatalogInvalid([FileFault(".", 0, "", "is not a folder, or is missing")])
        fields = self._agent_fields()
        files = ItemFiles(self._folder, self._reader, self._limits, self._faults)
        rules, references = self._named_folders(fields)
        pending = files.read(rules, references, fields.reference_files if fields else None, self._text)
        return fields, files.drafts, pending

    def _agent_fields(self) -> AgentFields | None:
        try:
            self._text = read_yaml(read_text(self._folder, AGENT_FILE, self._limits.max_agent_bytes))
        except NotText as error:
            self._faults.append(error.fault)
            return None
        checked = check_fields(AgentFields, AGENT_FILE, self._text)
        if isinstance(checked, AgentFields):
            return checked
        self._faults += checked
        return None

    def _named_folders(self, fields: AgentFields | None) -> tuple[str, str]:
        """The names of the folders of rules and of references; empty where there is none. A folder that `agent.yaml`
        names must exist."""
        named = fields or AgentFields(name="-", description="-")
        given = named.model_fields_set if fields else frozenset()
        rules, references = (
            name if kind in given or self._folder.has_folder(name) else ""
            for kind, name in (("rules", named.rules), ("references", named.references))
        )
        return rules, references

    async def _read_pending(self, pending: Sequence[UnreadReference]) -> list[ItemDraft]:
        """The references that are not Markdown, read a few at a time."""
        places = asyncio.Semaphore(_AT_ONCE)

        async def read(reference: UnreadReference) -> ItemDraft | None:
            async with places:
                return await self._read_reference(reference)

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(read(reference)) for reference in pending]
        except ExceptionGroup as failed:
            # Whatever keeps one from being read, a reader that stops for instance, is told as it is.
            raise failed.exceptions[0] from failed
        return [draft for task in tasks if (draft := task.result())]

    async def _read_reference(self, reference: UnreadReference) -> ItemDraft | None:
        try:
            content = await asyncio.to_thread(reference.load)
            text = await self._reader.text(reference.file, content)
        except NotText as error:
            self._faults.append(error.fault)
        except UnsupportedDocument as error:
            self._faults.append(FileFault(reference.file, 0, "", error.message))
        else:
            return reference.with_content(text)
        return None

    def _check_together(self, drafts: Sequence[ItemDraft]) -> None:
        """Finds names that are used twice, and items that are too long or too many."""
        limits = self._limits
        first: dict[tuple[str, str], ItemDraft] = {}
        for draft in drafts:
            if len(draft.content) > limits.max_item_chars:
                self._fault(draft.file, 0, "", f"holds more than {limits.max_item_chars:,} characters")
            known = first.setdefault((draft.type, draft.fields.name.casefold()), draft)
            if known is not draft:
                self._fault(draft.at, draft.line, draft.name_field, f"is also the name of {known.file}")
        if len(drafts) > limits.max_items:
            self._fault(".", 0, "", f"holds more than {limits.max_items:,} rules and references")
        if sum(len(draft.content) for draft in drafts) > limits.max_total_chars:
            self._fault(".", 0, "", f"holds more than {limits.max_total_chars:,} characters of rules and references")

    def _servers(self, fields: AgentFields) -> list[McpServer]:
        self._check_own_tools(fields)
        return read_servers(fields, self._text, self._root, self._environment, self._limits, self._faults)

    def _check_own_tools(self, fields: AgentFields) -> None:
        for name in fields.proviso.tools:
            if name not in self._own_tools:
                meant = did_you_mean(near_misses(name, self._own_tools, most=1))
                line = self._text.line_of(("proviso", "tools", name))
                self._fault(AGENT_FILE, line, f"proviso.tools.{name}", f"is not a tool of the service{meant}")

    def _fault(self, file: str, line: int, field: str, description: str) -> None:
        self._faults.append(FileFault(file, line, field, description))


def _place(fault: FileFault) -> tuple[bool, str, int]:
    """The order in which faults are shown. Those of `agent.yaml` come first, since others may follow from them."""
    return fault.file != AGENT_FILE, fault.file, fault.line


def _item(draft: ItemDraft) -> CatalogItem:
    fields = draft.fields
    return CatalogItem.of(
        ItemRef(draft.type, fields.name),
        fields.description,
        draft.content,
        EffectiveMode.of_item(IncludeMode.ALWAYS if fields.locked else fields.include),
        priority=fields.priority,
        enabled=fields.enabled,
        keywords=fields.keywords,
        locked=fields.locked,
    )


def default_agent_folder() -> Path:
    """The folder of the agent that ships with the service."""
    return Path(str(resources.files(__package__).joinpath("default_agent")))
