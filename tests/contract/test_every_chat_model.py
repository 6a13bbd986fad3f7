"""The same conversation comes to the same final state whichever model says it, over Gemini's wire or in this process,
and whichever way it is asked for."""

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
import pytest_asyncio
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk
from pydantic import Field

from proviso_client.v1 import chat_pb2, turns_pb2
from proviso_service.agent.chat_models import ChatModels, NamedChatModel
from proviso_service.backends.llm.factory import build_chat_model
from proviso_service.embedded import EmbeddedChatModel, MiniLmEmbedder
from proviso_service.settings import Settings
from proviso_service.turns import ExitReason
from tests.support import gemini_replies
from tests.support.contract_world import GROUNDED, INVENTED, QUICK
from tests.support.final_states import comparable
from tests.support.gemini_server import KEY, GeminiServer, gemini_server
from tests.support.running import AGREEMENT, RunningService, chat_request, final_of, running_service
from tests.support.scripted_model import Call, ScriptedChatModel, Step

pytestmark = pytest.mark.asyncio(loop_scope="module")

GEMINI = f"google_genai:{gemini_replies.MODEL}"


@dataclass(frozen=True)
class Says:
    """A reply in words; of none, an empty one."""

    pieces: Sequence[str] = ()


@dataclass(frozen=True)
class Asks:
    """A reply that calls tools, in parallel."""

    wanted: Sequence[tuple[str, dict[str, Any]]]


@dataclass(frozen=True)
class RefusesForRate:
    retry_after_s: float = 0.01


Reply = Says | Asks | RefusesForRate

SEARCH = ("isaacus_search", {"query": "governing law"})
LIST: tuple[str, dict[str, Any]] = ("list_matter_documents", {})
UNKNOWN: tuple[str, dict[str, Any]] = ("no_such_tool", {})
NO_QUERY: tuple[str, dict[str, Any]] = ("isaacus_search", {})
ANSWER = Says(["It is governed by ", "“the laws of the State of Oregon” [1]."])
LIMITED = RefusesForRate()

CONVERSATIONS: dict[str, tuple[ExitReason, list[Reply]]] = {
    "plain answer": (ExitReason.COMPLETED, [Says(["Which ", "one?"])]),
    "cited answer after a search": (ExitReason.COMPLETED, [Asks([SEARCH]), ANSWER]),
    "two tool calls at once": (ExitReason.COMPLETED, [Asks([SEARCH, LIST]), ANSWER]),
    "one tool after the other": (ExitReason.COMPLETED, [Asks([LIST]), Asks([SEARCH]), ANSWER]),
    "unknown tool, then right": (ExitReason.COMPLETED, [Asks([UNKNOWN]), Asks([SEARCH]), ANSWER]),
    "wrong arguments, then right": (ExitReason.COMPLETED, [Asks([NO_QUERY]), Asks([SEARCH]), ANSWER]),
    "wrong calls twice": (ExitReason.INVALID_TOOL_CALL, [Asks([NO_QUERY]), Asks([UNKNOWN])]),
    "empty, then an answer": (ExitReason.COMPLETED, [Says(), Says(["Which one?"])]),
    "empty twice": (ExitReason.LLM_GENERATION_FAILURE, [Says(), Says()]),
    "ungrounded, then grounded": (ExitReason.COMPLETED, [Asks([SEARCH]), Says([INVENTED]), Says([GROUNDED])]),
    "ungrounded twice": (ExitReason.LLM_GENERATION_FAILURE, [Asks([SEARCH]), Says([INVENTED]), Says([INVENTED])]),
    "tool limit": (
        ExitReason.MAX_TOOL_CALLS_REACHED,
        [Asks([LIST, LIST]), Asks([LIST, SEARCH]), Says(["There is one document."])],
    ),
    "turn limit": (
        ExitReason.MAX_TURNS_REACHED,
        [Asks([SEARCH]), Asks([SEARCH]), Asks([SEARCH]), Says(), Asks([UNKNOWN]), Says([INVENTED])],
    ),
    "rate limited": (ExitReason.RATE_LIMITED, [LIMITED] * 3),
    "rate limited twice": (ExitReason.COMPLETED, [LIMITED, LIMITED, Says(["Which one?"])]),
}


def in_process(reply: Reply) -> Step:
    match reply:
        case Says(pieces):
            return Step(pieces)
        case Asks(wanted):
            return Step(calls=[Call(name, json.dumps(args)) for name, args in wanted])
        case RefusesForRate(seconds):
            response = httpx.Response(429, headers={"retry-after": str(seconds)})
            request = httpx.Request("POST", "http://model.invalid/")
            return Step(error=httpx.HTTPStatusError("no", request=request, response=response))


def on_the_wire(reply: Reply) -> gemini_replies.Reply:
    match reply:
        case Says(pieces):
            return gemini_replies.says(*pieces)
        case Asks(wanted):
            return gemini_replies.calls(*wanted)
        case RefusesForRate(seconds):
            return gemini_replies.refuses(429, "RESOURCE_EXHAUSTED", gemini_replies.retry_info(f"{seconds}s"))


class RecordedLocalModel(EmbeddedChatModel):
    """The embedded model; `said` are its replies."""

    said: list[AIMessageChunk] = Field(default_factory=list)

    async def _astream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        reply = AIMessageChunk(content="")
        async for part in super()._astream(messages, stop, run_manager, **kwargs):
            reply = cast(AIMessageChunk, reply + part.message)
            yield part
        self.said.append(reply)

    def replies(self) -> list[Reply]:
        """What it has said since the last time."""
        said, self.said[:] = list(self.said), []
        return [
            Asks([(call["name"], call["args"]) for call in reply.tool_calls])
            if reply.tool_calls
            else Says([str(reply.content)])
            for reply in said
        ]


@dataclass(frozen=True)
class ManyModels:
    """One service that offers a scripted model, Gemini and the embedded one."""

    service: RunningService
    scripted: ScriptedChatModel
    gemini: GeminiServer
    local: RecordedLocalModel
    matter_id: str

    def script(self, replies: Sequence[Reply]) -> None:
        assert self.gemini.left == 0
        self.gemini.then(*map(on_the_wire, replies))
        self.scripted.script[:] = map(in_process, replies)
        self.scripted.payloads.clear()

    async def ask(self, model: str, message: str) -> chat_pb2.FinalState:
        return final_of([event async for event in self.service.chat.Chat(self._request(model, message))])

    async def invoke(self, model: str, message: str) -> chat_pb2.FinalState:
        return (await self.service.chat.Invoke(self._request(model, message))).final_state

    def _request(self, model: str, message: str) -> chat_pb2.ChatRequest:
        options = chat_pb2.ChatOptions(model=model, disable_cache=True)
        return chat_request(message, self.matter_id, options=options)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def models(
    tmp_path_factory: pytest.TempPathFactory, models_dir: Path, embedder: MiniLmEmbedder, storage: dict[str, str]
) -> AsyncIterator[ManyModels]:
    scripted, local = ScriptedChatModel(script=[]), RecordedLocalModel(embedder=embedder)
    async with gemini_server() as gemini:
        chosen: dict[str, Any] = {"llm": GEMINI, "GOOGLE_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": gemini.base_url}
        hosted = build_chat_model(Settings(**chosen))
        offered = ChatModels(
            NamedChatModel("scripted", scripted),
            NamedChatModel(GEMINI, hosted.model, close=hosted.close),
            NamedChatModel("local", local, takes_image_urls=True),
        )
        data_dir = tmp_path_factory.mktemp("models") / "data"
        async with running_service(data_dir, models_dir, chat_models=offered, turns=QUICK, storage=storage) as service:
            matter_id = await service.create_matter(Services_Agreement=AGREEMENT)
            yield ManyModels(service, scripted, gemini, local, matter_id)


@pytest.mark.parametrize(("reason", "replies"), CONVERSATIONS.values(), ids=CONVERSATIONS)
async def test_a_conversation_ends_the_same_over_every_wire(
    models: ManyModels, reason: ExitReason, replies: list[Reply]
) -> None:
    ends = []
    for ask in (models.ask, models.invoke):
        models.script(replies)
        ends += [await ask("scripted", "Which law governs?"), await ask(GEMINI, "Which law governs?")]
    assert models.gemini.left == 0
    assert turns_pb2.ExitReason.Name(ends[0].exit_reason) == f"EXIT_REASON_{reason.name}"
    expected = comparable(ends[0], tokens=False)
    assert [comparable(final, tokens=False) for final in ends] == [expected] * 4


@pytest.mark.parametrize(
    "question",
    [
        "Which law governs the agreement?",
        "What is the monthly fee?",
        "Which documents are there?",
        "Find clauses about insurance",
        "What is the penalty for late delivery of satellites?",
        "Hello",
    ],
)
async def test_gemini_that_says_what_the_embedded_model_said_ends_the_same_in_both_modes(
    models: ManyModels, question: str
) -> None:
    models.local.said.clear()
    streamed = await models.ask("local", question)
    replies = models.local.replies()
    invoked = await models.invoke("local", question)
    assert comparable(streamed) == comparable(invoked)
    assert streamed.message
    assert replies == models.local.replies()
    for ask in (models.ask, models.invoke):
        models.script(replies)
        final = await ask(GEMINI, question)
        assert comparable(final, tokens=False) == comparable(streamed, tokens=False)
    assert models.gemini.left == 0
