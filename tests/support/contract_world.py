"""The whole service with a model that plays a script: what the conformance suite asks."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any

from langchain_core.messages import BaseMessage

from proviso_client.v1 import chat_pb2, turns_pb2
from proviso_service.agent.chat_models import ChatModels, NamedChatModel
from proviso_service.models import AnswerSpan, ModelPassage
from proviso_service.turns import ExitReason
from tests.support.running import AGREEMENT, RunningService, chat_request, final_of, running_service, text_of
from tests.support.scripted_model import Call, ScriptedChatModel, Step, calls, text
from tests.support.word_extractor import WordExtractor

QUESTION = "Which law governs the agreement?"
SEARCH = Call("isaacus_search", '{"query": "governing law"}')
EXTRACT = Call("isaacus_extract", '{"question": "Which law governs the agreement?"}')
RETRIEVE = Call("retriever", '{"query": "annual leave"}')
RETRIEVE_NOTHING = Call("retriever", '{"query": "\\"parental allowance\\""}')
LIST = Call("list_matter_documents")
UNKNOWN = Call("no_such_tool")
GROUNDED = "It is governed by “the laws of the State of Oregon” [1]."
INVENTED = "It is governed by “the laws of the State of Texas” [1]."
SIX_STEPS = (calls(SEARCH), calls(SEARCH), calls(SEARCH), Step(), calls(UNKNOWN), text(INVENTED))
"""As many model calls as a turn may make, none of which ends it."""

HANDBOOK = b"# Handbook\n\n## Holidays\n\nEveryone has thirty days of annual leave each year.\n"
OTHER_MODEL = "another"

QUICK = {"retry_base_s": 0.001, "retry_max_s": 0.002}


class Mode(StrEnum):
    """The two ways in which a turn is asked for."""

    CHAT = "chat"
    INVOKE = "invoke"


class FailingExtractor(WordExtractor):
    """Raises its `failures` first, one a call."""

    def __init__(self) -> None:
        super().__init__()
        self.failures: list[Exception] = []

    async def extract(self, question: str, passages: Sequence[ModelPassage]) -> Sequence[Sequence[AnswerSpan]]:
        spans = await super().extract(question, passages)
        if self.failures:
            raise self.failures.pop(0)
        return spans


@dataclass(frozen=True)
class EndedTurn:
    """A turn that has ended, with its events, however it was asked for."""

    events: list[chat_pb2.AgentEvent]
    final: chat_pb2.FinalState

    @property
    def turn_id(self) -> str:
        return self.events[0].turn_id

    @property
    def reason(self) -> ExitReason:
        return ExitReason[turns_pb2.ExitReason.Name(self.final.exit_reason).removeprefix("EXIT_REASON_")]

    @property
    def kinds(self) -> list[str]:
        return [str(event.WhichOneof("event")) for event in self.events]

    @property
    def standing_text(self) -> str:
        """What a reader holds who follows the events."""
        return text_of(self.events)

    def of_kind(self, kind: str) -> list[Any]:
        """The events of one kind, each as its own message."""
        return [getattr(event, kind) for event in self.events if event.WhichOneof("event") == kind]

    @property
    def discarded(self) -> list[str]:
        """Why texts were voided, in order."""
        names = (chat_pb2.DiscardReason.Name(text.reason) for text in self.of_kind("text_discarded"))
        return [name.removeprefix("DISCARD_REASON_") for name in names]


@dataclass(frozen=True)
class ContractWorld:
    """A matter with one agreement, one without documents, a handbook as documentation, and the model that answers about
    them, under two names. Turns are asked of `service`; `other` shares its storage, and is the same one where that has
    no place for two."""

    service: RunningService
    other: RunningService
    model: ScriptedChatModel
    extractor: FailingExtractor
    matter_id: str
    empty_matter_id: str

    def play(self, *script: Step) -> None:
        """The model's next replies; forgets what it was sent before."""
        self.model.script[:] = script
        self.model.payloads.clear()
        self.model.tools_seen.clear()
        self.model.tool_choices.clear()
        self.model.held.clear()

    @property
    def payloads(self) -> list[list[BaseMessage]]:
        """What the model was sent, call by call."""
        return self.model.payloads

    async def ask(
        self,
        *script: Step,
        message: str = QUESTION,
        mode: Mode = Mode.CHAT,
        **fields: Any,
    ) -> EndedTurn:
        """One turn, to its end. Fails unless the model was called once for each step of the script, and unless the
        other service has the same turn. `fields` as of `request`."""
        self.play(*script)
        request = self.request(message, **fields)
        ended = await (self._chat(request) if mode is Mode.CHAT else self._invoke(request))
        assert len(self.payloads) == len(script), "the script is played to its end and no further"
        return ended

    def request(
        self,
        message: str = "Hello",
        *,
        matter_id: str | None = None,
        cached: bool = False,
        options: dict[str, Any] | None = None,
        **fields: Any,
    ) -> chat_pb2.ChatRequest:
        """About the matter with the agreement unless another is given; without caches unless `cached`."""
        chosen = chat_pb2.ChatOptions(disable_cache=not cached, **(options or {}))
        return chat_request(message, self.matter_id if matter_id is None else matter_id, options=chosen, **fields)

    async def _chat(self, request: chat_pb2.ChatRequest) -> EndedTurn:
        events = [event async for event in self.service.chat.Chat(request)]
        ended = EndedTurn(events, final_of(events))
        read = await self._read_elsewhere(ended.turn_id, ended.final)
        assert (read.standing_text, read.discarded) == (ended.standing_text, ended.discarded)
        assert [kind for kind, _ in groupby(read.kinds)] == [kind for kind, _ in groupby(ended.kinds)]
        return ended

    async def _invoke(self, request: chat_pb2.ChatRequest) -> EndedTurn:
        answer = await self.service.chat.Invoke(request)
        return await self._read_elsewhere(answer.turn_id, answer.final_state)

    async def _read_elsewhere(self, turn_id: str, final: chat_pb2.FinalState) -> EndedTurn:
        """The whole turn as the other service tells it, which has to have the same final state."""
        resume = chat_pb2.ResumeChatRequest(turn_id=turn_id)
        events = [event async for event in self.other.chat.ResumeChat(resume)]
        assert final_of(events) == final
        return EndedTurn(events, final)


@asynccontextmanager
async def contract_world(
    data_dir: Path, models_dir: Path, storage: Mapping[str, str] = MappingProxyType({}), **turns: Any
) -> AsyncIterator[ContractWorld]:
    """With two services where a storage is given that they can share. `turns` are settings of turns beside quick
    retries."""
    model, extractor = ScriptedChatModel(script=[]), FailingExtractor()
    models = ChatModels(NamedChatModel("scripted", model), NamedChatModel(OTHER_MODEL, model))
    given: dict[str, Any] = {"chat_models": models, "extractor": extractor, "turns": QUICK | turns}
    given["storage"] = dict(storage)
    async with AsyncExitStack() as stack:
        service = other = await stack.enter_async_context(running_service(data_dir, models_dir, **given))
        if storage:
            elsewhere = data_dir.with_name("other")
            other = await stack.enter_async_context(running_service(elsewhere, models_dir, **given))
        await service.upload("documentation", "handbook.md", HANDBOOK)
        await service.wait_until_ready("documentation")
        matter_id = await service.create_matter(Services_Agreement=AGREEMENT)
        yield ContractWorld(service, other, model, extractor, matter_id, await service.create_matter("Bare"))


def held_for_ever() -> Step:
    """A reply that never comes."""
    return Step(hold=asyncio.Event())
