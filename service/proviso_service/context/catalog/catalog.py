"""The catalog of an agent: every item that sessions and requests can have. A holder keeps the catalog in use, and
replaces it when the agent's folder is read again."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import structlog

from proviso_service.context.catalog.items import Approval, CatalogItem, McpServer, ToolDefinition, ToolPolicy
from proviso_service.context.model import (
    OWN_SERVER,
    ApprovedTool,
    IncludeMode,
    ItemRef,
    ItemType,
    NewSession,
    SessionItem,
    content_sha256,
    with_item,
    without_item,
)
from proviso_service.errors import ContextItemDisabled, ContextItemNotFound, NotAllowed, ProvisoError
from proviso_service.notices import ALONE, About, Notices, What
from proviso_service.paging import Page, PageRequest, page_token
from proviso_service.spelling import MIN_LIKENESS, Spelling, likeness

_ORDER = {ItemType.RULE: "0", ItemType.REFERENCE: "1", ItemType.TOOL: "2"}
_NEAR_MATCHES = 3


@dataclass(frozen=True, slots=True)
class AgentDefinition:
    """What an agent's folder defines: rules and references, how the service's own tools are used, and MCP servers."""

    name: str
    description: str
    items: tuple[CatalogItem, ...] = ()
    own_tools: ToolPolicy = ToolPolicy()
    mcp_servers: tuple[McpServer, ...] = ()


class Catalog:
    """The items of an agent. A catalog never changes; another one takes its place."""

    def __init__(
        self, agent: AgentDefinition, tools: Iterable[CatalogItem] = (), pending_servers: Sequence[str] = ()
    ) -> None:
        """`tools` are the items of tools, which stand beside the agent's rules and references (see `tool_items`).
        `pending_servers` are enabled, but have not listed their tools yet."""
        self.agent = agent
        self.pending_servers = tuple(pending_servers)
        self.items: tuple[CatalogItem, ...] = tuple(sorted([*agent.items, *tools], key=lambda item: _key(item.ref)))
        policies = {server.name: server.policy for server in agent.mcp_servers}
        self._policies = {OWN_SERVER: agent.own_tools} | policies
        self._definitions = {server.name: server.definition_sha256 for server in agent.mcp_servers}
        self._by_ref = {item.ref: item for item in self.items}
        self._spellings = {item.ref: Spelling.of(item.ref.name) for item in self.items}

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[CatalogItem]:
        return iter(self.items)

    def find(self, ref: ItemRef) -> CatalogItem | None:
        """The item; None where the catalog does not have it."""
        return self._by_ref.get(ref)

    def get(self, ref: ItemRef) -> CatalogItem:
        """The item. Raises ContextItemNotFound, which names items with a similar name."""
        if item := self.find(ref):
            return item
        near = [shown(near) for near in self.near_matches(ref)]
        raise ContextItemNotFound(shown(ref), near, not_yet=ref.server_name in self.pending_servers)

    def near_matches(self, ref: ItemRef) -> tuple[ItemRef, ...]:
        """Items with a similar name: those of the same type first, then the most similar first."""
        wanted = Spelling.of(ref.name)
        scored = [(likeness(wanted, spelling), found) for found, spelling in self._spellings.items()]
        near = [(score, found) for score, found in scored if score >= MIN_LIKENESS]
        near.sort(key=lambda pair: (pair[1].type is not ref.type, -pair[0], _key(pair[1])))
        return tuple(found for _, found in near[:_NEAR_MATCHES])

    def always_items(self) -> tuple[CatalogItem, ...]:
        """The items that every new session begins with, the highest priority first."""
        found = [item for item in self.items if item.enabled and item.include_mode is IncludeMode.ALWAYS]
        return tuple(sorted(found, key=lambda item: -item.priority))

    @cached_property
    def new_session(self) -> NewSession:
        """What a session is made from now."""
        return NewSession(initial_items(self.always_items()), self.pending_servers, self.locked)

    @property
    def locked(self) -> frozenset[ItemRef]:
        """The enabled items that are in every session."""
        return frozenset(item.ref for item in self.items if item.locked and item.enabled)

    def approval_of(self, tool: ItemRef) -> Approval:
        """Whether calls of a tool need an approval. A tool that its server has not listed has the setting of the tool,
        if there is one, or of its server. REQUIRED where the server is unknown, because it may come back with any
        setting."""
        if item := self.find(tool):
            return item.approval
        policy = self._policies.get(tool.server_name)
        return policy.approval_of(tool.name) if policy else Approval.REQUIRED

    def has_server(self, name: str) -> bool:
        """Whether the agent has a server of this name. The service itself counts as one."""
        return name in self._policies

    def tool_sha256(self, tool: ItemRef) -> str:
        """A hash of what a tool is: of what models are shown of it, and of how its server is defined. Empty for a tool
        that its server has not listed."""
        item = self.find(tool)
        if item is None:
            return ""
        return content_sha256(f"{self._definitions.get(tool.server_name, '')} {item.content_sha256}")

    def still_approves(self, approved: ApprovedTool) -> bool:
        """Whether a tool is still the one that a person approved. While its server has not listed it, it is not."""
        return bool(approved.sha256) and approved.sha256 == self.tool_sha256(approved.ref)

    def is_missing(self, ref: ItemRef) -> bool:
        """Whether an item has left the catalog. The tools of a server that has not listed any yet do not count as
        missing."""
        return self.find(ref) is None and ref.server_name not in self.pending_servers

    def page(self, kind: ItemType | None, page: PageRequest) -> Page[CatalogItem]:
        """A page of items by type and name; of all types where `kind` is None. Raises InvalidRequest for a page token
        that is not this list's."""
        scope = ("items", kind or "")
        after = page.after(scope, 3)
        listed = [item for item in self.items if kind is None or item.ref.type is kind]
        rest = [item for item in listed if after is None or list(_key(item.ref)) > after]
        shown_items = rest[: page.size]
        more = len(rest) > page.size
        return Page(shown_items, page_token(scope, *_key(shown_items[-1].ref)) if more else "", len(listed))


def tool_items(server: str, definitions: Iterable[ToolDefinition], policy: ToolPolicy) -> tuple[CatalogItem, ...]:
    """The tools of a server as items of the catalog, each with the include mode and the approval that hold for it."""
    return tuple(
        CatalogItem.of(
            ItemRef(ItemType.TOOL, tool.name, server),
            tool.description,
            tool.content,
            policy.include_mode(tool.name),
            approval=policy.approval_of(tool.name),
            locked=policy.is_locked(tool.name),
        )
        for tool in definitions
    )


def initial_items(catalog: Iterable[CatalogItem]) -> tuple[SessionItem, ...]:
    """The items of a new session: the enabled always items, in order, each once."""
    items: tuple[SessionItem, ...] = ()
    for entry in catalog:
        if entry.include_mode is IncludeMode.ALWAYS and entry.enabled:
            items = with_item(items, entry.ref, IncludeMode.ALWAYS)
    return items


def shown(ref: ItemRef) -> str:
    """An item in words, such as `rule 'Plain language'` or `tool 'proviso:isaacus_iql'`."""
    name = f"{ref.server_name}:{ref.name}" if ref.server_name else ref.name
    return f"{ref.type} {name!r}"


def _key(ref: ItemRef) -> tuple[str, str, str]:
    return _ORDER[ref.type], ref.name, ref.server_name


def with_added(items: tuple[SessionItem, ...], ref: ItemRef, catalog: Catalog) -> tuple[SessionItem, ...]:
    """The items with the item `ref` of the catalog added as manual; the same items when it is there already, whatever
    its mode and even where it has left the catalog. Raises ContextItemNotFound, which names items with a similar name,
    and ContextItemDisabled."""
    if _holds(items, ref):
        return items
    if not catalog.get(ref).enabled:
        raise ContextItemDisabled(shown(ref))
    return with_item(items, ref)


def with_removed(items: tuple[SessionItem, ...], ref: ItemRef, catalog: Catalog) -> tuple[SessionItem, ...]:
    """The items without the item `ref`, even where it has left the catalog; the same items when it is not there. Raises
    ContextItemNotFound for an item that neither the session nor the catalog has, since its name was mistyped, and
    NotAllowed for a locked item."""
    if not _holds(items, ref):
        catalog.get(ref)
    if ref in catalog.locked:
        raise NotAllowed(f"The {shown(ref)} is locked: it is in every session")
    return without_item(items, ref)


def _holds(items: tuple[SessionItem, ...], ref: ItemRef) -> bool:
    return any(item.ref == ref for item in items)


_log = structlog.get_logger(__name__)


class CatalogHolder:
    """Holds the catalog in use and replaces it as a whole. A caller that has taken `current` keeps a catalog that does
    not change."""

    def __init__(
        self, load: Callable[[], Awaitable[Catalog]], current: Catalog | None = None, notices: Notices = ALONE
    ) -> None:
        """`load` reads the catalog anew and raises CatalogInvalid. `current` is held until the first `reload`; it is
        empty by default. By `notices` all processes read it anew together."""
        self._load = load
        self._loading = asyncio.Lock()
        self._asked = 0
        self._answered = 0
        self._failure: Exception | None = None
        self._current = Catalog(AgentDefinition("", "")) if current is None else current
        self._changed = asyncio.Event()
        self._notices = notices
        notices.hear(About.CATALOG, self._heard, self.try_reload)

    @property
    def current(self) -> Catalog:
        return self._current

    def exchange(self, catalog: Catalog) -> None:
        """Replaces the catalog by another one of the same agent."""
        self._current = catalog
        self._changed.set()

    async def changed(self) -> Catalog:
        """Returns the catalog as soon as it is another one than at the last call. Only one caller may use this."""
        await self._changed.wait()
        self._changed.clear()
        return self._current

    async def reload(self) -> Catalog:
        """Reads the catalog anew and returns it. When this raises anything, the old catalog stays. Raises
        CatalogInvalid.

        Callers that ask while a reading is under way share the next reading and its result, because the current one may
        have read a file before they changed it."""
        self._asked += 1
        asked = self._asked
        async with self._loading:
            if self._answered < asked:
                await self._read()
            if self._failure:
                raise self._failure
            return self._current

    async def reload_everywhere(self) -> Catalog:
        """As `reload`; then other processes read it anew, too."""
        catalog = await self.reload()
        self._notices.tell(About.CATALOG)
        return catalog

    async def try_reload(self) -> None:
        """As `reload`; a failure is logged."""
        with _failures_logged():
            await self.reload()

    async def _heard(self, _what: What) -> None:
        await self.try_reload()

    async def _read(self) -> None:
        """Reads the catalog for all who have asked until now. When it is cancelled, they are not answered."""
        asked, self._failure = self._asked, None
        try:
            self.exchange(await self._load())
        except Exception as error:
            self._failure = error
        else:
            _log.info("catalog_loaded", agent=self._current.agent.name, items=len(self._current))
        self._answered = asked


async def reload_when(asked: asyncio.Event, catalog: CatalogHolder) -> None:
    """Reloads the catalog of all processes each time `asked` is set, and never returns. Failures are logged, and the
    catalog stays as it is."""
    while True:
        await asked.wait()
        asked.clear()
        with _failures_logged():
            await catalog.reload_everywhere()


@contextmanager
def _failures_logged() -> Iterator[None]:
    try:
        yield
    except ProvisoError as error:
        _log.error("catalog_not_reloaded", reason=error.message)
    except Exception:
        _log.exception("catalog_not_reloaded")
