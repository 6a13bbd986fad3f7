"""Nothing of one conversation is in another: two tenants with users and sessions of the same names ask at once."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from pydantic import PrivateAttr, TypeAdapter

from proviso_service.access import Authorisation
from proviso_service.admission import Admission
from proviso_service.agent.chat_models import ChatModels, NamedChatModel
from proviso_service.agent.execution import Agent
from proviso_service.agent.matter_context import VisibleMatters
from proviso_service.agent.message_images import ImageLoader
from proviso_service.agent.preparation import AgentDependencies
from proviso_service.agent.rebuilding import RequestRebuilder
from proviso_service.agent.request_context import RequestContextBuilder
from proviso_service.backends.memory import MemoryVectorCache
from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.sessions import SqlContentStore, SqlSessionStore
from proviso_service.backends.sql.turns import SqlTurnStore
from proviso_service.context.assets import AssetConfig
from proviso_service.context.catalog.items import CatalogItem
from proviso_service.context.model import (
    DocumentSummary,
    IncludeMode,
    ItemRef,
    ItemType,
    MatterContext,
    NewSession,
    SessionItem,
)
from proviso_service.context.selection.config import SelectionConfig
from proviso_service.context.selection.search import ItemSearch, TextSimilarity
from proviso_service.errors import MatterNotFound, SessionNotFound, TurnUnknown
from proviso_service.identity import Caller
from proviso_service.images.image import Image, NoImage
from proviso_service.matters.model import Document, Matter
from proviso_service.paging import PageRequest
from proviso_service.tools.base import SourcePassage, ToolScope
from proviso_service.turns import ExitReason, FinalState, TurnConfig, TurnRequest, Turns
from tests.support.agent_world import MATTER_ID, NOW, PASSAGE, Found, LookupArgs, SomeDocumentation, SomeTools, items_of
from tests.support.catalogs import an_item, holding
from tests.support.image_files import png
from tests.support.members import EVERYBODY
from tests.support.memory_caches import memory_caches
from tests.support.migrated import state_in
from tests.support.word_embedder import WordEmbedder

TENANTS, USERS, SESSIONS, MESSAGES = ("smith", "jones"), ("ada", "bob"), ("s-1", "s-2", "s-3"), 4
MARK = re.compile(r"mark-\w+-\w+-\d")
FINAL_STATE = TypeAdapter(FinalState)


@dataclass(frozen=True)
class Conversation:
    caller: Caller
    session_id: str

    @property
    def mark(self) -> str:
        """Stands in everything that belongs to the conversation, and nowhere else."""
        return f"mark-{self.caller.tenant}-{self.caller.user}-{self.session_id[-1]}"

    @property
    def rule(self) -> CatalogItem:
        ref = ItemRef(ItemType.RULE, f"Rule of {self.mark}")
        return an_item(ref, IncludeMode.MANUAL, content=f"Speak of {self.mark} only.")


CONVERSATIONS = [Conversation(Caller(t, u), s) for t in TENANTS for u in USERS for s in SESSIONS]


class EachTenantsMatter:
    """A MatterReader: the tenants have matters of the same id."""

    async def get(self, tenant: str, matter_id: str) -> Matter:
        if matter_id != MATTER_ID:
            raise MatterNotFound(matter_id)
        return Matter(MATTER_ID, tenant, f"Matter of {tenant}", NOW, 1)

    async def get_document(self, tenant: str, matter_id: str, document_id: str) -> Document:
        raise AssertionError("no message names a document")

    async def all_documents(self, tenant: str, matter_id: str) -> Sequence[Document]:
        raise AssertionError("no message names a document")


class WhoAsks:
    """A tool whose passage says for whom it was looked up; slow now and then."""

    name = "lookup"
    description = "Looks something up."
    args = LookupArgs
    needs_matter = True
    is_retrieval = True

    def __init__(self, random: Random) -> None:
        self._random = random

    async def run(self, scope: ToolScope, args: LookupArgs) -> Found:
        for _ in range(self._random.randrange(5)):
            await asyncio.sleep(0)
        tenant = scope.caller.tenant
        text = f"What {tenant} keeps about {args.query}."
        return Found([SourcePassage(PASSAGE.document_id, f"{tenant}.md", 0, text, 0, "")])


class EachTenantsImages:
    """An ImageFetcher that gives each tenant an image of its own."""

    async def fetch(self, url: str, tenant: str, max_bytes: int) -> Image | NoImage:
        return Image("image/png", png(1, 1 + TENANTS.index(tenant)))


class RepeatingModel(BaseChatModel):
    """Looks up the same in every conversation and repeats what it read; keeps the marks of each call's payload."""

    _seen: list[tuple[str, set[str]]] = PrivateAttr(default_factory=list)

    @property
    def seen(self) -> list[tuple[str, set[str]]]:
        """The mark of the message, and all marks, of each call."""
        return self._seen

    @property
    def _llm_type(self) -> str:
        return "repeating"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        return self.bind(tools=list(tools))

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        raise AssertionError("the service streams")

    async def _astream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        asked = next(message for message in reversed(messages) if message.type == "human")
        mark = MARK.findall(asked.text)[-1]
        self._seen.append((mark, set(MARK.findall(str([message.content for message in messages])))))
        await asyncio.sleep(0)
        if messages[-1].type == "human":
            call = tool_call_chunk(name="lookup", args=json.dumps({"query": "the same"}), id="call-1", index=0)
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[call]))
            return
        read = json.loads(messages[-1].text)["results"][0]["text"]
        for word in f"“{read}” [1]".split(" "):
            yield ChatGenerationChunk(message=AIMessageChunk(content=f"{word} "))


@dataclass
class World:
    model: RepeatingModel
    turns: Turns
    sessions: SqlSessionStore
    rebuilder: RequestRebuilder

    async def converse(self, conversation: Conversation, random: Random) -> list[str]:
        """Several messages one after the other; the ids of their turns."""
        items = (SessionItem(conversation.rule.ref, IncludeMode.MANUAL), LOOKUP_ITEM)
        await self.sessions.create(conversation.caller, conversation.session_id, NewSession(items))
        turn_ids = []
        for number in range(MESSAGES):
            for _ in range(random.randrange(10)):
                await asyncio.sleep(0)
            turn_id, final = await self.turns.invoke(conversation.caller, request(conversation, number), nobody)
            assert final.exit_reason is ExitReason.COMPLETED
            assert marks_in(final) == {conversation.mark}
            assert f"What {conversation.caller.tenant} keeps" in final.message
            turn_ids.append(turn_id)
        return turn_ids


LOOKUP_ITEM = SessionItem(ItemRef(ItemType.TOOL, "lookup", "proviso"), IncludeMode.ALWAYS)


def request(conversation: Conversation, number: int) -> TurnRequest:
    mark = conversation.mark
    assets = number % 2 == 0  # the others come without: nothing of an earlier message's assets may come back
    return TurnRequest(
        f"Message {number} about {mark}",
        MatterContext(MATTER_ID) if number == 0 else None,
        image_urls=(f"https://a.example/{mark}.png",) if assets else (),
        document_context=(DocumentSummary(f"{mark}.md", "md", f"All of {mark}."),) if assets else (),
        session_id=conversation.session_id,
    )


async def nobody(turn_id: str) -> None: ...


def marks_in(value: FinalState) -> set[str]:
    return set(MARK.findall(FINAL_STATE.dump_json(value).decode()))


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    database = Database(state_in(tmp_path))
    tool, selection = WhoAsks(Random(1)), SelectionConfig()  # noqa: S311
    catalog = holding(*items_of([tool]), *(conversation.rule for conversation in CONVERSATIONS))
    embedder, vectors = WordEmbedder(), MemoryVectorCache(100)
    request_contexts = RequestContextBuilder(
        SomeTools([tool]),
        SomeDocumentation(),
        ItemSearch(embedder, vectors, selection),
        TextSimilarity(embedder, vectors),
        selection,
        AssetConfig(),
    )
    model, sessions, store = RepeatingModel(), SqlSessionStore(database), SqlTurnStore(database)
    dependencies = AgentDependencies(
        ChatModels(NamedChatModel("repeating", model)),
        request_contexts,
        sessions,
        VisibleMatters(EachTenantsMatter(), Authorisation(EVERYBODY)),
        ImageLoader(EachTenantsImages()),
        TurnConfig(),
        catalog,
        memory_caches(),
    )
    turns = Turns(Agent(dependencies), store, TurnConfig(), owner="test", max_running=100)
    turns.admission = Admission("turns", 100, wait_s=60, on_loop=False)  # all are to run, however slow the machine is
    await turns.open()
    yield World(model, turns, sessions, RequestRebuilder(store, SqlContentStore(database), catalog))
    await turns.close()
    await database.close()


async def test_nothing_of_one_conversation_is_in_another(world: World) -> None:
    async with asyncio.TaskGroup() as group:
        randoms = map(Random, range(len(CONVERSATIONS)))
        pairs = zip(CONVERSATIONS, randoms, strict=True)
        tasks = [group.create_task(world.converse(one, random)) for one, random in pairs]
    turn_ids = dict(zip(CONVERSATIONS, (task.result() for task in tasks), strict=True))

    assert len(world.model.seen) > len(CONVERSATIONS) * MESSAGES
    assert all(marks == {own} for own, marks in world.model.seen)
    for conversation, own_turns in turn_ids.items():
        await assert_alone(world, conversation, own_turns)


async def assert_alone(world: World, conversation: Conversation, own_turns: list[str]) -> None:
    caller, mark = conversation.caller, conversation.mark
    page = await world.sessions.messages(caller, conversation.session_id, PageRequest(50))
    assert len(page.items) == 2 * MESSAGES
    for number, answer in enumerate(page.items[1::2]):
        assert {m for item in page.items for m in MARK.findall(str(item))} == {mark}
        context = answer.request_context
        assert context is not None
        assert [asset.name for asset in context.assets] == (
            [f"{mark}.md", f"https://a.example/{mark}.png"] if number % 2 == 0 else []
        )
        rebuilt = await world.rebuilder.rebuild(caller, own_turns[number])
        assert rebuilt.matches
        assert set(MARK.findall(rebuilt.payload_json)) == {mark}
    assert len((await world.sessions.list(caller, PageRequest(50))).items) == len(SESSIONS)
    for stranger in {one.caller for one in CONVERSATIONS} - {caller}:
        with pytest.raises(TurnUnknown):
            await world.turns.get(stranger, own_turns[0])
        with pytest.raises(TurnUnknown):
            await world.rebuilder.rebuild(stranger, own_turns[0])
    with pytest.raises(SessionNotFound):
        await world.sessions.get(Caller("other", caller.user), conversation.session_id)
