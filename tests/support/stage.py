"""One running service for many tests, whose chat model plays a script of its own for each question."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from pydantic import PrivateAttr

from proviso_service.agent.chat_models import ChatModels, NamedChatModel
from tests.support.running import AGREEMENT, RunningService, running_service
from tests.support.scripted_model import ScriptedChatModel, Step


class Repertoire(BaseChatModel):
    """Answers each question by the script that is meant for it."""

    _scripts: dict[str, ScriptedChatModel] = PrivateAttr(default_factory=dict)

    @property
    def _llm_type(self) -> str:
        return "repertoire"

    def play(self, question: str, *steps: Step) -> ScriptedChatModel:
        assert question not in self._scripts, "each test asks a question of its own"
        return self._scripts.setdefault(question, ScriptedChatModel(script=list(steps)))

    def bind_tools(self, tools: Any, **kwargs: Any) -> Runnable[Any, AIMessage]:
        return self.bind(tools=list(tools))

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        raise AssertionError("the service streams")

    async def _astream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        asked = str([message for message in messages if isinstance(message, HumanMessage)][-1].content)
        script = next(script for question, script in self._scripts.items() if question in asked)
        async for chunk in script._astream(messages, stop, run_manager, **kwargs):
            yield chunk


@dataclass(frozen=True)
class Stage:
    """`matter_id` holds the agreement of `running`, as "agreement.md"."""

    service: RunningService
    models: Repertoire
    matter_id: str

    @property
    def port(self) -> int:
        return self.service.app.port

    @property
    def target(self) -> str:
        return f"127.0.0.1:{self.port}"

    def play(self, question: str, *steps: Step) -> ScriptedChatModel:
        return self.models.play(question, *steps)

    def held(self, question: str) -> tuple[ScriptedChatModel, asyncio.Event]:
        """A reply that stops after its words until the event is set."""
        go_on = asyncio.Event()
        return self.play(question, Step(("You are ", "welcome\n"), hold_after=go_on)), go_on


@asynccontextmanager
async def stage(data_dir: Path, models_dir: Path, **settings: Any) -> AsyncIterator[Stage]:
    models = Repertoire()
    offered = ChatModels(NamedChatModel("repertoire", models))
    async with running_service(data_dir, models_dir, chat_models=offered, **settings) as service:
        yield Stage(service, models, await service.create_matter(agreement=AGREEMENT))
