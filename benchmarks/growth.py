"""How the cost of a turn grows with what is stored: sessions, messages of its own, and the history that it sends."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any
from uuid import uuid4

import grpc

from benchmarks.charts import lines
from benchmarks.client import admitted
from benchmarks.document_load import create_empty_matter
from benchmarks.load import ONE_TOKEN
from benchmarks.processes import Child, running
from benchmarks.report import Figures, Place, say, table
from proviso_client.v1 import chat_pb2, sessions_pb2, turns_pb2
from proviso_client.v1.chat_pb2_grpc import ChatServiceStub
from proviso_client.v1.context_pb2 import MatterContext
from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.turns import SqlTurnStore
from proviso_service.identity import LOCAL_CALLER
from proviso_service.turns import ChatMessage, ExitReason, MessageRole, TurnRequest, bare_outcome

STAGES = ((10, 10), (100, 100), (1_000, 600), (10_000, 10_000))
"""So many sessions are stored, and one of them has so many messages. The last are more than a conversation may have:
its turns end without the model, once they have read as much as would fit."""

QUICK_STAGES = ((10, 10), (300, 300))
HISTORY = 120
LONG, USUAL = "long", "usual"
"""The session that has many of the shortest messages, of which most fit; and the one whose messages are as long as
people's questions and answers are."""

SHORT_PAIR = ("Go on.", ONE_TOKEN.texts[0])
_ANSWER = (
    "A notice by e-mail is valid where the party that receives it has agreed to that in writing [1]. It counts as "
    "received on the next business day, unless the sender is told that it could not be delivered [2]."
)
USUAL_PAIR = ("And what does the agreement with the landlord say about a notice by e-mail?", _ANSWER)
USUAL_MESSAGES = 10_000

ROUNDS, TURNS = 7, 16
FILLERS = 16
TIMEOUT_S = 60.0

_ENDINGS = (turns_pb2.EXIT_REASON_COMPLETED, turns_pb2.EXIT_REASON_MAX_CONTEXT_REACHED)

Request = Callable[[], chat_pb2.ChatRequest]


class WrongTurn(Exception):
    """A turn ended in a failure."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks turns of one token, and measures what the server takes for them."""

    server: Child
    stub: Any
    matter_id: str
    state: Path

    def request(self, session_id: str = "", history: int = 0) -> chat_pb2.ChatRequest:
        request = chat_pb2.ChatRequest(
            message="Go on.",
            matter_context=MatterContext(matter_id=self.matter_id),
            options=chat_pb2.ChatOptions(model=ONE_TOKEN.name, disable_cache=True),
        )
        if session_id:
            request.session_id = session_id
        else:
            roles = (sessions_pb2.MESSAGE_ROLE_USER, sessions_pb2.MESSAGE_ROLE_ASSISTANT)
            for number in range(history):
                said = f"What was said {number}, in some words more."
                request.history.messages.add(role=roles[number % 2], content=said)
        return request

    def in_new_session(self) -> chat_pb2.ChatRequest:
        return self.request(str(uuid4()))

    async def ask(self, request: chat_pb2.ChatRequest) -> None:
        """Raises WrongTurn."""
        last = await admitted(lambda: self._last_event(request))
        if last is None or last.final_state.exit_reason not in _ENDINGS:
            raise WrongTurn(str(last))

    async def _last_event(self, request: chat_pb2.ChatRequest) -> chat_pb2.AgentEvent | None:
        last = None
        async for event in self.stub.Chat(request, timeout=TIMEOUT_S):
            last = event
        return last

    async def compare(self, *ways: Request) -> list[list[float]]:
        """The CPU milliseconds of a turn, by way and round; the ways take turns in going first."""
        figures: list[list[float]] = [[] for _ in ways]
        for number in range(ROUNDS):
            for way in range(len(ways))[:: 1 if number % 2 == 0 else -1]:
                before_s = self.server.cpu_s
                for _ in range(TURNS):
                    await self.ask(ways[way]())
                figures[way].append((self.server.cpu_s - before_s) * 1e3 / TURNS)
        return figures

    async def fill(self, sessions: int, session_id: str, messages: int, pair: tuple[str, str] = SHORT_PAIR) -> None:
        """Makes so many sessions as callers do, and messages in one of them, `pair` after `pair`, as a turn does that
        ends."""
        waiting: Iterator[int] = iter(range(sessions))

        async def make_sessions() -> None:
            for _ in waiting:
                await self.ask(self.in_new_session())

        await asyncio.gather(self.ask(self.request(session_id)), *(make_sessions() for _ in range(FILLERS)))
        said = (ChatMessage(MessageRole.USER, pair[0]), ChatMessage(MessageRole.ASSISTANT, pair[1]))
        outcome = replace(bare_outcome(ExitReason.COMPLETED), new_messages=said * (messages // 2))
        database, turn_id = Database(f"sqlite:///{self.state}"), str(uuid4())
        try:
            turns = SqlTurnStore(database)
            await turns.begin(LOCAL_CALLER, turn_id, TurnRequest("", session_id=session_id), "", "benchmark", TIMEOUT_S)
            await turns.finish(LOCAL_CALLER, turn_id, session_id, 0, outcome, "benchmark")
        finally:
            await database.close()


@asynccontextmanager
async def asking(place: Place) -> AsyncIterator[Asker]:
    """Starts the service with the benchmark's models."""
    arguments = ("benchmarks.servers.service", str(place.folder / "data"), str(place.models_dir))
    async with running(place.folder / "service.log", *arguments) as server:
        address = f"127.0.0.1:{json.loads(await server.line(TIMEOUT_S))['port']}"
        matter_id = await create_empty_matter(address)
        async with grpc.aio.insecure_channel(address) as channel:
            asker = Asker(server, ChatServiceStub(channel), matter_id, place.folder / "data" / "state.sqlite3")
            await asker.ask(asker.in_new_session())
            yield asker


async def measure(place: Place) -> Figures:
    """A row for each stage, and one for a history that the request brings along."""
    stages = QUICK_STAGES if place.quick else STAGES
    rows: Figures = []
    async with asking(place) as asker:
        before = (0, 0)
        for sessions, messages in stages:
            say(f"growth: {sessions:,} sessions, {messages:,} messages in one")
            await asker.fill(sessions - before[0], LONG, messages - before[1])
            before = (sessions, messages)
            new, old = await asker.compare(asker.in_new_session, lambda: asker.request(LONG))
            what = f"a session of {messages:,} short messages, {sessions:,} sessions stored"
            rows.append(_row(what, messages, old, new) | {"sessions": sessions})
        messages = QUICK_STAGES[-1][1] if place.quick else USUAL_MESSAGES
        say(f"growth: {messages:,} messages of usual length")
        await asker.fill(0, USUAL, messages, USUAL_PAIR)
        new, old = await asker.compare(asker.in_new_session, lambda: asker.request(USUAL))
        rows.append(_row(f"a session of {messages:,} messages of usual length", messages, old, new))
        say(f"growth: a history of {HISTORY} messages")
        await asker.ask(asker.request(history=HISTORY))
        none, some = await asker.compare(asker.request, lambda: asker.request(history=HISTORY))
        rows.append(_row(f"a history of {HISTORY} messages in the request", HISTORY, some, none))
    return rows


def _row(what: str, size: int, figures: list[float], others: list[float]) -> dict[str, Any]:
    """`other_ms` is what a turn in a new session takes, or one without history; the ratio is the median of those of all
    rounds."""
    ratios = sorted(one / other for one, other in zip(figures, others, strict=True))
    return {
        "what": what,
        "size": size,
        "cpu_ms": median(figures),
        "other_ms": median(others),
        "ratio": median(ratios),
        "least": ratios[0],
        "most": ratios[-1],
    }


def tables(rows: Figures) -> str:
    """The rows as a Markdown table."""
    return table(
        ("a turn of one token in", "CPU ms", "in a new session, or without history", "ratio", "round by round"),
        [
            (
                *(r["what"], f"{r['cpu_ms']:.1f}", f"{r['other_ms']:.1f}", f"{r['ratio']:.2f}"),
                f"{r['least']:.2f} to {r['most']:.2f}",
            )
            for r in rows
        ],
    )


def charts(rows: Figures) -> dict[str, str]:
    """The drawings, by the names of their files."""
    stages = [r for r in rows if "sessions" in r]
    series = {
        "in a session of so many": [(r["size"], r["cpu_ms"]) for r in stages],
        "among so many sessions": [(r["sessions"], r["other_ms"]) for r in stages],
    }
    return {"growth": lines("CPU time of a turn by what is stored", "messages or sessions", "ms", series)}
