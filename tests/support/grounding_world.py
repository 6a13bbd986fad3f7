"""The service with a model that writes the answers of the grounding corpus. `python -m tests.support.grounding_world
[FOLDER]` prints what becomes of them, or of those of another folder."""

import asyncio
import json
import re
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import structlog
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from pydantic import PrivateAttr

from proviso_client.v1 import chat_pb2, context_pb2, turns_pb2
from proviso_service.agent.chat_models import ChatModels, NamedChatModel
from proviso_service.mcp.model import ServerState
from tests.support.agent_servers import CatalogView, with_servers
from tests.support.catalogs import write
from tests.support.grounding_corpus import FOLDER, Answer, Corpus, Outcome, Sentence, Sources, load, scores
from tests.support.running import RunningService, final_of, reason_of, running_service

SERVER = Path(__file__).with_name("told_mcp_server.py")
ROOM = {"tool_result_chars": 14_000, "max_context_chars": 60_000, "cache_ttl_s": 0, "token_interval_s": 0}
"""Room for all passages in one result; every turn reaches the model."""

_PIECE_CHARS = 9
_PLACE = re.compile(r"\[@([^\]]+)\]")
_COUNT = re.compile(r"<(\w+)([+-]\d+)?>")


class AnsweringModel(BaseChatModel):
    """Calls the tools that it is given first, then writes its answer, as often as it is asked."""

    passages: Mapping[str, str]
    _calls: list[tuple[str, str]] = PrivateAttr(default_factory=list)
    _text: str = PrivateAttr(default="")
    _results: list[str] = PrivateAttr(default_factory=list)

    def play(self, calls: Sequence[tuple[str, str]], text: str) -> None:
        self._calls, self._text = list(calls), text

    @property
    def _llm_type(self) -> str:
        return "answering"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        return self.bind(tools=list(tools))

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        raise AssertionError("the service streams")

    async def _astream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        self._results = [str(message.content) for message in messages if isinstance(message, ToolMessage)]
        if self._calls and not self._results:
            chunks = [
                tool_call_chunk(name=name, args=args, id=f"call-{i}", index=i)
                for i, (name, args) in enumerate(self._calls)
            ]
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=chunks))
            return
        written = _PLACE.sub(lambda found: self._cited(found[1].split(",@")), self.with_counts(self._text))
        for start in range(0, len(written), _PIECE_CHARS):
            yield ChatGenerationChunk(message=AIMessageChunk(content=written[start : start + _PIECE_CHARS]))

    def with_counts(self, text: str) -> str:
        """`<total_matches>` is the count that a tool has returned; `<total_matches+2>` is another one."""
        return _COUNT.sub(lambda found: str(self._count(found[1]) + int(found[2] or 0)), text)

    def _count(self, name: str) -> int:
        numbers = (re.search(rf'"{name}":\s*(\d+)', result) for result in self._results)
        return next(int(found[1]) for found in numbers if found)

    def _cited(self, names: Sequence[str]) -> str:
        """`[3]` or `[3, 5]` for passages that the tools have numbered; nothing for a result without a number."""
        numbers = [number for name in names if (number := self._number(name))]
        return f"[{', '.join(numbers)}]" if numbers else ""

    def _number(self, name: str) -> str:
        words = self.passages.get(name)
        result = next(result for result in self._results if words is None or words in result)
        before = result if words is None else result.partition(words)[0]
        refs: list[str] = re.findall(r'"ref":\s*(\d+)', before) or re.findall(r"^\[(\d+)\]", before, re.MULTILINE)
        return refs[0 if words is None else -1] if refs else ""


@dataclass(frozen=True)
class GroundingWorld:
    """The service, its model, and the documents that hold an order, by the answer that obeys it."""

    service: RunningService
    model: AnsweringModel
    corpus: Corpus
    matter_id: str
    orders: Mapping[str, str]
    orders_matter_id: str

    async def outcome(self, answer: Answer, **options: Any) -> Outcome:
        """Drives one turn to its end."""
        self.model.play(list(self._calls(answer)), answer.text)
        summaries = self.corpus.sources.summaries
        named = [(name, summaries[name]) for name in answer.sources if name in summaries]
        if answer.told and answer.told.by == "summary":
            named.append(("notes.txt", answer.told.text))
        events = await self.service.ask(
            answer.question,
            self.orders_matter_id if answer.answer_id in self.orders else self.matter_id,
            options=chat_pb2.ChatOptions(disable_cache=True, **options),
            document_context=[
                context_pb2.DocumentContext(filename=name, type=name.rpartition(".")[2], summary=summary)
                for name, summary in named
            ],
        )
        final = final_of(events)
        answer = replace(answer, sentences=tuple(self._counted(one) for one in answer.sentences))
        texts: dict[str, str] = {}
        for event in events:
            if event.HasField("token"):
                texts[event.token.text_id] = texts.get(event.token.text_id, "") + event.token.text
        cause = turns_pb2.ExitCause.Name(final.exit_cause).removeprefix("EXIT_CAUSE_")
        return Outcome(answer, reason_of(final), cause, final.message, list(texts.values()), final.omitted_sentences)

    def _counted(self, sentence: Sentence) -> Sentence:
        kernels = tuple(map(self.model.with_counts, sentence.kernels))
        return replace(sentence, text=self.model.with_counts(sentence.text), kernels=kernels)

    def _calls(self, answer: Answer) -> Iterator[tuple[str, str]]:
        for source in answer.sources:
            if source in self.corpus.sources.calls:
                name, args = self.corpus.sources.calls[source]
                yield name, args
        if answer.told is None:
            return
        match answer.told.by:
            case "passage":
                wanted = {"query": answer.question, "threshold": 0, "document_ids": [self.orders[answer.answer_id]]}
                yield "isaacus_search", json.dumps(wanted)
            case "text":
                yield "get_document_text", json.dumps({"document_id": self.orders[answer.answer_id]})
            case "tool":
                yield "registry__lookup", json.dumps({"topic": answer.answer_id})


@asynccontextmanager
async def grounding_world(
    folder: Path, models_dir: Path, corpus_folder: Path = FOLDER
) -> AsyncIterator[GroundingWorld]:
    corpus = load(corpus_folder)
    sources = corpus.sources
    told = {a.answer_id: a.told.text for a in corpus.answers if a.told and a.told.by == "tool"}
    agent = _agent(folder, sources, told)
    model = AnsweringModel(passages=sources.passages)
    models = ChatModels(NamedChatModel("answering", model))
    async with running_service(folder / "data", models_dir, chat_models=models, agent_dir=agent, turns=ROOM) as service:
        await CatalogView(service.channel).until_state("registry", ServerState.READY)
        for name, text in sources.documentation.items():
            await service.upload("documentation", name, text.encode())
        await service.wait_until_ready("documentation")
        matter_id = await service.create_matter("Brightwater")
        for name, text in sources.documents.items():
            await service.upload(matter_id, name, text.encode())
        await service.wait_until_ready(matter_id)
        orders_matter_id = await service.create_matter("Orders")
        orders = {}
        for answer in corpus.answers:
            if answer.told and answer.told.by in ("passage", "text"):
                document = await service.upload(orders_matter_id, f"{answer.answer_id}.md", answer.told.text.encode())
                orders[answer.answer_id] = document.document_id
        await service.wait_until_ready(orders_matter_id)
        yield GroundingWorld(service, model, corpus, matter_id, orders, orders_matter_id)


def _agent(folder: Path, sources: Sources, told: Mapping[str, str]) -> Path:
    """The agent's folder: its references, and the server that says what is `told`."""
    references = {
        f"references__{number}_md": f"---\nname: {name}\ndescription: {name}.\ninclude: always\n---\n{text}\n"
        for number, (name, text) in enumerate(sources.references.items())
    }
    write(folder, told_json=json.dumps({**sources.told, **told}))
    write(folder / "agent", **references)
    server = {"command": sys.executable, "args": [str(SERVER), str(folder / "told.json")]}
    return with_servers(folder / "agent", {"registry": server})


def report(outcomes: Sequence[Outcome]) -> str:
    """The figures by kind, then every answer that failed, by id."""
    lines = [f"{'kind':34} answers  false displayed  streamed   true refused  silent"]
    for kind, score in sorted(scores(outcomes).items(), key=lambda item: item[0] == "all"):
        lines.append(
            f"{kind:34} {score.answers:7}  {score.displayed:6} of {score.false:4}  {score.streamed:8}"
            f"  {score.refused:4} of {score.true:4}  {score.silent:6}"
        )
    for outcome in outcomes:
        head = f"{outcome.answer.answer_id} ({outcome.reason}, {outcome.cause}):"
        lines += [f"displayed  {head} {one.text.strip()}" for one in outcome.displayed_false]
        only_streamed = [one for one in outcome.streamed_false if one not in outcome.displayed_false]
        lines += [f"streamed   {head} {one.text.strip()}" for one in only_streamed]
        lines += [f"refused    {head} {one.text.strip()}" for one in outcome.refused_true]
        lines += [f"silent     {head} {outcome.message}"] * outcome.silently_shortened
    return "\n".join(lines)


async def _main(corpus_folder: Path) -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    with tempfile.TemporaryDirectory(prefix="proviso-grounding-") as folder:
        async with grounding_world(Path(folder), Path(".proviso/models"), corpus_folder) as world:
            outcomes = [await world.outcome(answer) for answer in world.corpus.answers]
    print(report(outcomes))


if __name__ == "__main__":
    asyncio.run(_main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER))
