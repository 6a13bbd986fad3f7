"""`proviso chat`: one session of questions and answers, each answer shown as it comes."""

import asyncio
import signal
import sys
import uuid
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager, suppress

from google.protobuf.json_format import MessageToDict

from proviso_client import AsyncTurn, ProvisoError
from proviso_client.errors import SessionBusy
from proviso_client.v1 import chat_pb2, context_pb2, matters_pb2, turns_pb2
from proviso_service.cli.approvals import Terminal, asking
from proviso_service.cli.connection import Connection, connect, events_of, find_document, find_matter
from proviso_service.cli.output import CommandError, console, print_json, printable
from proviso_service.cli.session_commands import SessionCommands, parse_command
from proviso_service.cli.transcript import Screen, Transcript

ANSWERED = (turns_pb2.EXIT_REASON_COMPLETED, turns_pb2.EXIT_REASON_MAX_TOOL_CALLS_REACHED)
INTERRUPTED = 130
"""Exit code of a command that was stopped by Ctrl-C."""


def chat(
    address: str, *, matter_name: str, document_name: str, session_id: str, message: str | None, as_json: bool
) -> int:
    """Asks one message, or reads messages until the input ends. Returns the exit code. Raises CommandError."""
    with asyncio.Runner() as runner:
        session_id = session_id or f"cli-{uuid.uuid4().hex[:12]}"
        conversation = runner.run(Conversation.open(address, matter_name, document_name, session_id, as_json=as_json))
        try:
            if message is not None:
                return runner.run(conversation.ask(message))
            _read_messages(runner, conversation)
            return 0
        finally:
            runner.run(conversation.close())


def _read_messages(runner: asyncio.Runner, conversation: "Conversation") -> None:
    """Reads messages and commands from the terminal. A call that fails does not end the conversation."""
    conversation.greet()
    while True:
        try:
            line = input("\n> ")  # in the main thread, so that Ctrl-C at the prompt leaves at once
        except EOFError:
            break
        if line.strip() in {"exit", "quit"}:
            break
        if not line.strip():
            continue
        try:
            runner.run(conversation.command(line) if line.startswith("/") else conversation.ask_next(line))
        except CommandError as error:
            sys.stderr.write(f"proviso: {error.message}\n")
    conversation.say_how_to_go_on()


class Conversation:
    """A session with a server. It is made by `open`, and has to be closed in the end."""

    def __init__(
        self,
        connection: Connection,
        context: context_pb2.MatterContext,
        session_id: str,
        stack: AsyncExitStack,
        *,
        as_json: bool,
    ) -> None:
        self._connection = connection
        self._context = context
        self._session_id = session_id
        self._stack = stack
        self._as_json = as_json
        self._console = console()

    @classmethod
    async def open(
        cls, address: str, matter_name: str, document_name: str, session_id: str, *, as_json: bool
    ) -> "Conversation":
        """Connects, and finds the matter and the document by their names. Raises CommandError."""
        async with AsyncExitStack() as stack:
            connection = await stack.enter_async_context(connect(address))
            context = await _matter_context(connection, matter_name, document_name)
            return cls(connection, context, session_id, stack.pop_all(), as_json=as_json)
        raise AssertionError("unreachable")

    async def close(self) -> None:
        await self._stack.aclose()

    def greet(self) -> None:
        about = f"Matter {self._context.matter_name}" if self._context.matter_id else "No matter"
        about += f", {self._context.document_name}" if self._context.document_id else ""
        self._console.print(
            f"{about}. /help lists commands, Ctrl-C cancels an answer, Ctrl-D ends the conversation.", style="dim"
        )

    def say_how_to_go_on(self) -> None:
        self._console.print(f"\nGo on later with: proviso chat --session {self._session_id}", style="dim")

    async def ask(self, message: str) -> int:
        """Sends a message and shows its turn. Returns the exit code that the end of the turn stands for.

        Raises CommandError, and KeyboardInterrupt at the second Ctrl-C.
        """
        with self._connection.explaining_failures():
            return await self._show(self._turn(message))

    async def ask_next(self, message: str) -> None:
        """Sends a message as soon as the session is free, and shows its turn. Raises what `ask` raises.

        The session may still be answering an earlier message, for example after a chat that was left while a tool call
        waited for an approval. That answer is shown first. When it is cancelled, the new message is not sent.
        """
        with self._connection.explaining_failures():
            while True:
                try:
                    await self._show(self._turn(message))
                except SessionBusy as busy:
                    earlier = self._connection.client.resume(busy.turn_id)
                else:
                    return
                self._console.print(
                    "This session is still answering an earlier message. Yours is sent after it.", style="dim"
                )
                if await self._show(earlier) == INTERRUPTED:
                    return

    async def command(self, line: str) -> None:
        """Carries out a line that begins with a slash. Raises CommandError."""
        commands = SessionCommands(self._connection.client, self._session_id, self._context)
        with self._connection.explaining_failures():
            shown = await commands.run(parse_command(line))
        self._console.print(printable(shown))

    def _turn(self, message: str) -> AsyncTurn:
        if self._context.matter_id:
            return self._connection.client.chat(message, session_id=self._session_id, matter_context=self._context)
        return self._connection.client.chat(message, session_id=self._session_id)

    async def _show(self, turn: AsyncTurn) -> int:
        """Shows a turn to its end. Returns the exit code that its end stands for."""
        async with turn:
            with _cancelling(turn):
                final = await (self._print_events(turn) if self._as_json else self._print_transcript(turn))
        if final.exit_reason == turns_pb2.EXIT_REASON_CANCELLED:
            return INTERRUPTED
        return 0 if final.exit_reason in ANSWERED else 1

    async def _print_events(self, turn: AsyncTurn) -> chat_pb2.FinalState:
        async for event in events_of(turn):
            print_json(MessageToDict(event, preserving_proto_field_name=True))
        return await turn.result()

    async def _print_transcript(self, turn: AsyncTurn) -> chat_pb2.FinalState:
        """Shows a turn, and asks the person at the terminal about calls that wait for an approval."""
        transcript, screen = Transcript(), Screen(self._console)
        try:
            async with asking(self._connection, screen, Terminal.of_stdin()) as approvals:
                async for event in events_of(turn):
                    for step in transcript.apply(event):
                        screen.show(step)
                    approvals.note(event)
        finally:
            screen.close()
        return await turn.result()


async def _matter_context(connection: Connection, matter_name: str, document_name: str) -> context_pb2.MatterContext:
    if not matter_name:
        return context_pb2.MatterContext()
    matter = await find_matter(connection.client, matter_name)
    document = matters_pb2.Document()
    if document_name:
        document = await find_document(connection.client, matter, document_name)
    return context_pb2.MatterContext(
        matter_id=matter.matter_id,
        matter_name=matter.name,
        document_id=document.document_id,
        document_name=document.filename,
    )


@contextmanager
def _cancelling(turn: AsyncTurn) -> Iterator[None]:
    """Cancels the turn at the first Ctrl-C, and raises KeyboardInterrupt at the second."""
    loop, reading = asyncio.get_running_loop(), asyncio.current_task()
    cancels: list[asyncio.Task[None]] = []

    async def cancel() -> None:
        with suppress(ProvisoError):
            await turn.cancel()

    def interrupted() -> None:
        if cancels and reading:
            reading.cancel()
        else:
            cancels.append(loop.create_task(cancel()))

    loop.add_signal_handler(signal.SIGINT, interrupted)
    try:
        yield
    except asyncio.CancelledError:
        if cancels:
            raise KeyboardInterrupt from None
        raise
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        for task in cancels:
            task.cancel()
