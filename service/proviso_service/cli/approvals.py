"""Asking the person about tool calls that wait for an approval, while the turn's events go on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

import grpc
import grpc.aio

from proviso_client.v1 import chat_pb2, turns_pb2
from proviso_service.cli.client import CALL_TIMEOUT_S, Client, explain
from proviso_service.cli.output import printable
from proviso_service.cli.screen import Screen
from proviso_service.cli.transcript import Note

CHOICES = {
    "o": turns_pb2.TOOL_CALL_DECISION_APPROVE_ONCE,
    "once": turns_pb2.TOOL_CALL_DECISION_APPROVE_ONCE,
    "s": turns_pb2.TOOL_CALL_DECISION_APPROVE_FOR_SESSION,
    "session": turns_pb2.TOOL_CALL_DECISION_APPROVE_FOR_SESSION,
    "d": turns_pb2.TOOL_CALL_DECISION_DENY,
    "deny": turns_pb2.TOOL_CALL_DECISION_DENY,
}


class Person(Protocol):
    """Who is asked."""

    def forget_typed(self) -> None:
        """Drops what was typed before a question is put."""
        ...

    async def read_line(self) -> str:
        """Raises EOFError at the end of input."""
        ...


@dataclass(frozen=True, slots=True)
class Waiting:
    """A call that waits, of a turn."""

    turn_id: str
    asked: chat_pb2.ApprovalRequired

    @property
    def tool(self) -> tuple[str, str]:
        return self.asked.server_name, self.asked.tool

    @property
    def text(self) -> str:
        """The call in one line, whole: the person decides on all of it. Models know a server's tool as server__tool."""
        server = self.asked.server_name
        name = self.asked.tool.removeprefix(f"{server}__")
        return printable(" ".join(f"{server}:{name} {self.asked.input_json}".splitlines()))

    @property
    def instructions(self) -> str:
        """How to decide from elsewhere."""
        until = (
            f" until {self.asked.expire_time.ToDatetime():%H:%M:%S} UTC" if self.asked.HasField("expire_time") else ""
        )
        return (
            f"waits for an approval{until}: call ChatService.DecideToolCall with turn_id {printable(self.turn_id)} "
            f"and call_id {printable(self.asked.call_id)}"
        )


@asynccontextmanager
async def asking(client: Client, screen: Screen, person: Person | None) -> AsyncIterator["Approvals"]:
    """Approvals that ask the person, as long as the block lasts. Without one, how to decide is said."""
    approvals = Approvals(client, screen, has_person=person is not None)
    worker = asyncio.create_task(approvals.ask(person)) if person else None
    try:
        yield approvals
    finally:
        if worker is not None:
            worker.cancel()
            await asyncio.wait({worker})
    if worker is not None and not worker.cancelled():
        worker.result()


class Approvals:
    """The calls that wait; `note` every event of the turn. One question stands at a time. It is put again when another
    call begins to wait, and withdrawn when its call is decided elsewhere or expires."""

    def __init__(self, client: Client, screen: Screen, *, has_person: bool) -> None:
        self._client = client
        self._screen = screen
        self._has_person = has_person
        self._waiting: dict[str, Waiting] = {}
        self._changed = asyncio.Event()

    def note(self, event: chat_pb2.AgentEvent) -> None:
        """A call that has started, or whose turn has ended, waits no more."""
        match event.WhichOneof("event"):
            case "approval_required":
                call = Waiting(event.turn_id, event.approval_required)
                self._waiting[call.asked.call_id] = call
                if not self._has_person:
                    self._instruct(call)
            case "tool_start":
                self._waiting.pop(event.tool_start.call_id, None)
            case "final_state":
                self._waiting.clear()
            case _:
                return
        self._changed.set()

    async def ask(self, person: Person) -> None:
        """Asks about each call that waits, until cancelled or until the person's input ends."""
        while True:
            self._changed.clear()
            if not self._waiting:
                await self._changed.wait()
                continue
            call = next(iter(self._waiting.values()))
            try:
                answer = await self._answer(call, person)
            except EOFError:
                self._has_person = False
                for waiting in self._waiting.values():
                    self._instruct(waiting)
                return
            decision = CHOICES.get(answer.strip().casefold())
            if decision is not None and await self._decide(call, decision):
                self._forget(call, decision)

    async def _answer(self, call: Waiting, person: Person) -> str:
        """The line that the person types; empty when the calls that wait have changed meanwhile. Raises EOFError."""
        person.forget_typed()
        self._screen.prompt(f"  {call.text}\n  Allow this call? [o]nce, for the [s]ession, [d]eny: ")
        reading = asyncio.ensure_future(person.read_line())
        changing = asyncio.ensure_future(self._changed.wait())
        try:
            await asyncio.wait({reading, changing}, return_when=asyncio.FIRST_COMPLETED)
            if not reading.done():
                return ""
            line = reading.result()
            self._screen.answered()
            return line
        finally:
            reading.cancel()
            changing.cancel()
            await asyncio.gather(reading, changing, return_exceptions=True)

    async def _decide(self, call: Waiting, decision: "turns_pb2.ToolCallDecision") -> bool:
        """Whether the call need not be asked about again. What failed is said."""
        request = chat_pb2.DecideToolCallRequest(turn_id=call.turn_id, call_id=call.asked.call_id, decision=decision)
        try:
            # A service that is being started again is waited for: the call waits over a restart.
            await self._client.chat.DecideToolCall(request, timeout=CALL_TIMEOUT_S, wait_for_ready=True)
        except grpc.aio.AioRpcError as error:
            self._screen.show(Note(explain(error, self._client.address)))
            return error.code() not in {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED}
        return True

    def _forget(self, decided: Waiting, decision: "turns_pb2.ToolCallDecision") -> None:
        """The call, and those that an approval for the session covers."""
        covers = decision == turns_pb2.TOOL_CALL_DECISION_APPROVE_FOR_SESSION
        for call_id, call in list(self._waiting.items()):
            if call is decided or (covers and call.tool == decided.tool):
                del self._waiting[call_id]

    def _instruct(self, call: Waiting) -> None:
        self._screen.show(Note(f"{call.text}\n  {call.instructions}"))
