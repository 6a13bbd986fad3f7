"""An agent with a scripted model and small tools, and the events of one of its turns."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from proviso_service.access import Authorisation
from proviso_service.agent.caching import Caches
from proviso_service.agent.chat_models import ChatModels, ModelGate, NamedChatModel
from proviso_service.agent.execution import Agent
from proviso_service.agent.matter_context import VisibleMatters
from proviso_service.agent.message_images import ImageLoader
from proviso_service.agent.preparation import AgentDependencies
from proviso_service.agent.request_context import RequestContextBuilder
from proviso_service.backends.memory import MemoryVectorCache
from proviso_service.context.assets import AssetConfig
from proviso_service.context.catalog.catalog import tool_items
from proviso_service.context.catalog.items import Approval, CatalogItem, ToolOverride, ToolPolicy
from proviso_service.context.model import (
    ApprovedTool,
    ContextChange,
    IncludeMode,
    ItemRef,
    ItemType,
    MatterContext,
    NewSession,
    SessionItem,
)
from proviso_service.context.selection.config import SelectionConfig
from proviso_service.context.selection.search import ItemSearch, TextSimilarity
from proviso_service.errors import DocumentNotFound, MatterNotFound, SessionNotFound
from proviso_service.identity import Caller
from proviso_service.images.image import Image, ImageFetcher, NoImage
from proviso_service.matters.model import Document, DocumentStatus, Matter
from proviso_service.tools.base import Number, Rendered, SourcePassage, Tool, ToolArgs, ToolScope, item_of, server_of
from proviso_service.tools.external import ToolFinder
from proviso_service.tools.registry import ToolRegistry
from proviso_service.tools.rendering import fit_list
from proviso_service.turns import (
    AskedCall,
    ChatMessage,
    Decision,
    Event,
    HistoryMessage,
    MessageRole,
    RunningTurn,
    Session,
    TurnClock,
    TurnConfig,
    TurnOutcome,
    TurnRequest,
    TurnSessions,
)
from tests.support.catalogs import holding
from tests.support.members import EVERYBODY
from tests.support.scripted_model import ScriptedChatModel, Step
from tests.support.word_embedder import WordEmbedder

CALLER = Caller("local", "ada")
MATTER_ID = "25e70284-6124-4a2b-9c89-0123456789ab"
DOCUMENT_ID = "f47ac10b-58cc-4372-a567-0e02b2c3d479"
NOW = datetime(2026, 1, 2, tzinfo=UTC)
PASSAGE = SourcePassage(
    DOCUMENT_ID, "Services Agreement.md", 100, "This Agreement is governed by the laws of Ohio.", 0, "9. Law"
)


def document(status: DocumentStatus = DocumentStatus.READY, **changes: Any) -> Document:
    known = Document(
        document_id=DOCUMENT_ID,
        matter_id=MATTER_ID,
        tenant="local",
        filename="Services Agreement.md",
        media_type="text/markdown",
        size_bytes=10,
        sha256="00",
        status=status,
        upload_time=NOW,
    )
    return replace(known, **changes)


@dataclass
class OneMatter:
    """A MatterReader that knows one matter."""

    documents: list[Document] = field(default_factory=lambda: [document()])
    version: int = 1

    async def get(self, tenant: str, matter_id: str) -> Matter:
        if (tenant, matter_id) != ("local", MATTER_ID):
            raise MatterNotFound(matter_id)
        return Matter(MATTER_ID, tenant, "Smith v. Jones", NOW, len(self.documents), index_version=self.version)

    async def get_document(self, tenant: str, matter_id: str, document_id: str) -> Document:
        for known in self.documents:
            if known.document_id == document_id:
                return known
        raise DocumentNotFound(document_id)

    async def all_documents(self, tenant: str, matter_id: str) -> Sequence[Document]:
        return self.documents


@dataclass
class SomeDocumentation:
    """A DocumentationReader of tenants that have READY documents there."""

    tenants: tuple[str, ...] = ()

    async def ready_version(self, tenant: str) -> int:
        return int(tenant in self.tenants)


@dataclass
class MemorySessions:
    """TurnSessions that keep what a test puts in."""

    context: MatterContext | None = None
    stored: list[ChatMessage] = field(default_factory=list)
    made_with: list[NewSession] = field(default_factory=list)
    approved_tools: tuple[ApprovedTool, ...] = ()

    async def get_or_create(
        self, caller: Caller, session_id: str, new: NewSession, change: ContextChange | None = None
    ) -> Session:
        self.made_with.append(new)
        if change is not None:
            self.context = change.matter_context
        return Session(session_id, new.items, self.context, NOW, NOW, approved_tools=self.approved_tools)

    async def history(self, caller: Caller, session_id: str, max_chars: int) -> tuple[HistoryMessage, ...]:
        newest: list[HistoryMessage] = []
        for message in reversed(self.stored):
            is_sent = message.role in {MessageRole.USER, MessageRole.ASSISTANT} and not message.unsent
            if is_sent and max_chars >= 0:
                newest.insert(0, HistoryMessage(message.role, message.content))
                max_chars -= len(message.content)
        return tuple(newest)

    async def get(self, caller: Caller, session_id: str) -> Session:
        raise SessionNotFound(session_id)


class SomeTools:
    """A ToolFinder of these tools."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = {item_of(tool): tool for tool in tools}

    def find(self, ref: ItemRef) -> Tool | None:
        return self._tools.get(ref)


class LookupArgs(ToolArgs):
    query: str
    limit: int = 5


@dataclass
class Found:
    passages: Sequence[SourcePassage]

    @property
    def found(self) -> bool:
        return bool(self.passages)

    def data(self) -> dict[str, Any]:
        return {"results": [{"text": p.text} for p in self.passages]}

    def render(self, number: Number, max_chars: int) -> Rendered:
        results = [{"ref": number(p), "text": p.text} for p in self.passages]
        return fit_list({"results": results}, "results", max_chars, text_key="text")


class Lookup:
    """A retrieval tool that returns what it is given: passages, or failures before them."""

    name = "lookup"
    description = "Looks something up."
    args = LookupArgs
    needs_matter = True
    is_retrieval = True

    def __init__(self, *outcomes: Sequence[SourcePassage] | Exception) -> None:
        self._outcomes = list(outcomes) or [[PASSAGE]]
        self.scopes: list[ToolScope] = []
        self.args_seen: list[LookupArgs] = []

    async def run(self, scope: ToolScope, args: LookupArgs) -> Found:
        self.scopes.append(scope)
        self.args_seen.append(args)
        outcome = self._outcomes.pop(0) if len(self._outcomes) > 1 else self._outcomes[0]
        if isinstance(outcome, Exception):
            raise outcome
        return Found(outcome)


@dataclass
class KnownImages:
    """An ImageFetcher that knows some URLs."""

    known: Mapping[str, Image] = field(default_factory=dict)

    async def fetch(self, url: str, tenant: str, max_bytes: int) -> Image | NoImage:
        return self.known.get(url, NoImage("its server does not have it"))


LOOKUP = ItemRef(ItemType.TOOL, "lookup", "proviso")
NEW_SESSION = NewSession((SessionItem(LOOKUP, IncludeMode.ALWAYS),))
FAST_TURNS = TurnConfig(retry_base_s=0.001, retry_max_s=0.002)


@dataclass
class Persons:
    """The Approvals of a turn: they decide by the name of the tool, at once or when all is `decided`; they are `busy`
    from when they are asked. `asked` is what they were asked, `made` what they have decided of it, `states` what the
    turn would have gone on from."""

    decisions: Mapping[str, Decision | None] = field(default_factory=dict)
    asked: list[AskedCall] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    decided: asyncio.Event | None = None
    busy: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def made(self) -> list[tuple[AskedCall, Decision]]:
        return [(call, decision) for call in self.asked if (decision := self.decisions[call.tool])]

    async def decide(
        self, calls: Sequence[AskedCall], suspend: Callable[[], Awaitable[str]]
    ) -> dict[str, Decision | None]:
        self.asked += calls
        self.states.append(await suspend())
        self.busy.set()
        if self.decided is not None:
            await self.decided.wait()
        return {call.call_id: self.decisions[call.tool] for call in calls}


@dataclass
class AgentWorld:
    """An agent of one test. `checkpoints` are the states that its turns have stored, each with the events until
    then."""

    model: ScriptedChatModel
    agent: Agent
    persons: Persons
    events: list[Event] = field(default_factory=list)
    checkpoints: list[tuple[str, tuple[Event, ...]]] = field(default_factory=list)
    _stored: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def until_stored(self, times: int) -> None:
        """Returns once so many states were stored."""
        async with asyncio.timeout(10), self._stored:
            await self._stored.wait_for(lambda: len(self.checkpoints) >= times)

    def turn(
        self, request: TurnRequest, turn_id: str = "turn-1", caller: Caller = CALLER, *, was_cut: bool = False
    ) -> RunningTurn:
        """A turn as the engine gives it to the agent, with a minute's time."""
        events = self.events

        async def checkpoint(state: str) -> None:
            async with self._stored:
                self.checkpoints.append((state, tuple(events)))
                self._stored.notify_all()

        return RunningTurn(
            *(turn_id, caller, request, events.append, self.persons, TurnClock(60.0), checkpoint), was_cut=was_cut
        )

    async def run(self, message: str, **request: Any) -> TurnOutcome:
        request.setdefault("matter_context", MatterContext(MATTER_ID))
        self.events.clear()
        asked = TurnRequest(message, **request)
        execution = self.agent.start(self.turn(asked))
        return await execution.run()


def agent_world(
    *script: Step,
    tools: Sequence[Tool] | None = None,
    sessions: TurnSessions | None = None,
    matters: OneMatter | None = None,
    documentation: SomeDocumentation | None = None,
    images: ImageFetcher | None = None,
    sees_images: bool = False,
    turns: TurnConfig = FAST_TURNS,
    caches: Caches | None = None,
    gate: ModelGate | None = None,
    items: Sequence[CatalogItem] = (),
    decisions: Mapping[str, Decision | None] | None = None,
    finder: ToolFinder | None = None,
) -> AgentWorld:
    """Without `caches` every model call and retrieval of a script is made, also where one is like another. The tools of
    `decisions` need an approval, and persons decide so."""
    marked = decisions or {}
    model = ScriptedChatModel(script=list(script))
    offered = [Lookup()] if tools is None else list(tools)
    selection, vectors = SelectionConfig(), MemoryVectorCache(1_000)
    request_contexts = RequestContextBuilder(
        finder or SomeTools(offered),
        documentation or SomeDocumentation(),
        ItemSearch(WordEmbedder(), vectors, selection),
        TextSimilarity(WordEmbedder(), vectors),
        selection,
        AssetConfig(),
    )
    dependencies = AgentDependencies(
        ChatModels(NamedChatModel("scripted", model, takes_image_urls=not sees_images, gate=gate)),
        request_contexts,
        sessions or MemorySessions(),
        VisibleMatters(matters or OneMatter(), Authorisation(EVERYBODY)),
        ImageLoader(images or KnownImages()),
        turns,
        holding(*items_of(offered, marked), *items),
        caches,
    )
    return AgentWorld(model, Agent(dependencies), Persons(marked))


def items_of(tools: Sequence[Tool], marked: Collection[str] = ()) -> list[CatalogItem]:
    """The tools as items of a catalog, include mode always; those `marked`, by name, need an approval."""
    definitions = ToolRegistry(tools).definitions()
    policy = ToolPolicy(tools={name: ToolOverride(approval=Approval.REQUIRED) for name in marked})
    return [
        item
        for tool, definition in zip(tools, definitions, strict=True)
        for item in tool_items(server_of(tool), [definition], policy)
    ]
