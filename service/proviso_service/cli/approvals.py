"""Asking the person at the terminal about tool calls that wait for an approval, while the turn's events go on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from proviso_client import ProvisoError
from proviso_client.errors import DeadlineExceeded, Unavailable
from proviso_client.v1 import chat_pb2, turns_pb2
from proviso_service.cli.connection import Connection
from proviso_service.cli.output import printable
from proviso_service.cli.transcript import Note, Screen

CHOICES = {
    "o": turns_pb2.TOOL_CALL_DECISION_APPROVE_ONCE,
    "once": turns_pb2.TOOL_CALL_DECISION_APPROVE_ONCE,
    "s": turns_pb2.TOOL_CALL_DECISION_APPROVE_FOR_SESSION,
    "session": turns_pb2.TOOL_CALL_DECISION_APPROVE_FOR_SESSION,
    "d": turns_pb2.TOOL_CALL_DECISION_DENY,
    "deny": turns_pb2.TOOL_CALL_DECISION_DENY,
}


class Person(Protocol):
    """The person who is asked."""

    def answering(self) -> AbstractContextManager[None]:
        """Begins before a question is put, and drops what was typed until then: it cannot be an answer to it."""
        ...

    async def read_line(self) -> str:
        """Returns the next line that is typed. Raises EOFError at the end of input."""
        ...


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A tool call that waits for a decision, and the turn that it belongs to."""

    turn_id: str
    asked: chat_pb2.ApprovalRequired

    @property
    def tool(self) -> tuple[str, str]:
        return self.asked.server_name, self.asked.tool

    @property
    def text(self) -> str:
        """The whole call on one line, because the person decides on all of it."""
        server = self.asked.server_name
        name = self.asked.tool.removeprefix(f"{server}__")  # models know a server's tool as server__tool
        return printable(" ".join(f"{server}:{name} {self.asked.input_json}".splitlines()))

    @property
    def instructions(self) -> str:
        """How to decide on the call from another program."""
        until = (
            f" until {self.asked.expire_time.ToDatetime():%H:%M:%S} UTC" if self.asked.HasField("expire_time") else ""
        )
        return (
            f"waits for an approval{until}: call ChatService.DecideToolCall with turn_id {printable(self.turn_id)} "
            f"and call_id {printable(self.asked.call_id)}"
        )


@asynccontextmanager
async def asking(connection: Connection, screen: Screen, person: Person | None) -> AsyncIterator["Approvals"]:
    """Asks the person about calls that wait for as long as the block lasts.

    Where there is no person, the screen shows how to decide from another program.
    """
    approvals = Approvals(connection, screen, has_person=person is not None)
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
    """The calls of a turn that wait for a decision. Hand every event of the turn to `note`.

    One question is open at a time. It is put again when another call begins to wait, and it is withdrawn when its call
    is decided elsewhere or expires.
    """

    def __init__(self, connection: Connection, screen: Screen, *, has_person: bool) -> None:
        self._connection = connection
        self._screen = screen
        self._has_person = has_person
        self._pending: dict[str, PendingCall] = {}
        self._changed = asyncio.Event()

    def note(self, event: chat_pb2.AgentEvent) -> None:
        """Takes in an event. A call that has started, or whose turn has ended, no longer waits."""
        match event.WhichOneof("event"):
            case "approval_required":
                call = PendingCall(event.turn_id, event.approval_required)
                self._pending[call.asked.call_id] = call
                if not self._has_person:
                    self._show_instructions(call)
            case "tool_start":
                self._pending.pop(event.tool_start.call_id, None)
            case "final_state":
                self._pending.clear()
            case _:
                return
        self._changed.set()

    async def ask(self, person: Person) -> None:
        """Asks about each call that waits, until this is cancelled or the person's input ends."""
        while True:
            self._changed.clear()
            if not self._pending:
                await self._changed.wait()
                continue
            call = next(iter(self._pending.values()))
            try:
                answer = await self._answer(call, person)
            except EOFError:
                self._has_person = False
                for pending in self._pending.values():
                    self._show_instructions(pending)
                return
            decision = CHOICES.get(answer.strip().casefold())
            if decision is not None and await self._decide(call, decision):
                self._forget(call, decision)

    async def _answer(self, call: PendingCall, person: Person) -> str:
        """Returns the line that the person types, or nothing when other calls wait meanwhile. Raises EOFError."""
        with person.answering():
            return await self._read_answer(call, person)

    async def _read_answer(self, call: PendingCall, person: Person) -> str:
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

    async def _decide(self, call: PendingCall, decision: "turns_pb2.ToolCallDecision") -> bool:
        """Sends a decision, and shows why it failed. Returns whether the call need not be asked about again."""
        try:
            await self._connection.client.decide(call.turn_id, call.asked.call_id, decision)
        except ProvisoError as error:
            self._screen.show(Note(self._connection.explain(error)))
            return not isinstance(error, Unavailable | DeadlineExceeded)
        return True

    def _forget(self, decided: PendingCall, decision: "turns_pb2.ToolCallDecision") -> None:
        """Forgets the call, and those that an approval for the session decides on too."""
        for_session = decision == turns_pb2.TOOL_CALL_DECISION_APPROVE_FOR_SESSION
        for call_id, call in list(self._pending.items()):
            if call is decided or (for_session and call.tool == decided.tool):
                del self._pending[call_id]

    def _show_instructions(self, call: PendingCall) -> None:
        self._screen.show(Note(f"{call.text}\n  {call.instructions}"))
