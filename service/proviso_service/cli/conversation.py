"""A conversation with a server: one session, its matter, and each turn shown as it comes."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager, suppress

import grpc.aio
from google.protobuf.json_format import MessageToDict

from proviso_client.v1 import chat_pb2, context_pb2, matters_pb2, turns_pb2
from proviso_service.cli.approvals import asking
from proviso_service.cli.chat_commands import parse_command
from proviso_service.cli.client import Client, connect, explain, failure, find_document, find_matter
from proviso_service.cli.output import console, print_json, printable
from proviso_service.cli.problems import CommandError
from proviso_service.cli.screen import Screen
from proviso_service.cli.session_commands import SessionCommands
from proviso_service.cli.terminal import Terminal
from proviso_service.cli.transcript import Transcript
from proviso_service.cli.turn_stream import TurnStream

ANSWERED = (turns_pb2.EXIT_REASON_COMPLETED, turns_pb2.EXIT_REASON_MAX_TOOL_CALLS_REACHED)
INTERRUPTED = 130


class SessionBusy(CommandError):
    """The session runs the turn `turn_id`."""

    def __init__(self, message: str, turn_id: str) -> None:
        super().__init__(message)
        self.turn_id = turn_id


class Conversation:
    """Made by `open`; `close` it in the end."""

    def __init__(
        self,
        client: Client,
        context: context_pb2.MatterContext,
        session_id: str,
        stack: AsyncExitStack,
        *,
        as_json: bool,
    ) -> None:
        self._client = client
        self._context = context
        self._session_id = session_id
        self._stack = stack
        self._as_json = as_json
        self._console = console()

    @classmethod
    async def open(
        cls, address: str, matter_name: str, document_name: str, session_id: str, *, as_json: bool
    ) -> "Conversation":
        """Connects and finds matter and document by name. Raises CommandError."""
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(connect(address))
            context = await _matter_context(client, matter_name, document_name)
            return cls(client, context, session_id, stack.pop_all(), as_json=as_json)
        raise AssertionError("unreachable")

    async def close(self) -> None:
        await self._stack.aclose()

    def greet(self) -> None:
        about = f"Matter {self._context.matter_name}" if self._context.matter_id else "No matter"
        about += f", {self._context.document_name}" if self._context.document_id else ""
        self._console.print(
            f"{about}. /help lists commands, Ctrl-C cancels an answer, Ctrl-D ends the conversation.", style="dim"
        )

    def part(self) -> None:
        self._console.print(f"\nGo on later with: proviso chat --session {self._session_id}", style="dim")

    async def ask(self, message: str) -> int:
        """Runs one turn; returns the exit code it stands for. Raises CommandError, KeyboardInterrupt."""
        return await self._run(self._turn(message))

    async def ask_next(self, message: str) -> None:
        """As `ask`, but where the session is answering an earlier message, as after a chat that was left while a call
        waited for an approval, that answer comes first. The message is not sent when that one is cancelled."""
        while True:
            try:
                await self.ask(message)
            except SessionBusy as busy:
                earlier = self._turn(turn_id=busy.turn_id)
            else:
                return
            self._console.print(
                "This session is still answering an earlier message. Yours is sent after it.", style="dim"
            )
            if await self._run(earlier) == INTERRUPTED:
                return

    async def command(self, line: str) -> None:
        """Carries out a line that begins with a slash. Raises CommandError."""
        commands = SessionCommands(self._client, self._session_id, self._context)
        try:
            shown = await commands.run(parse_command(line))
        except grpc.aio.AioRpcError as error:
            raise CommandError(explain(error, self._client.address)) from error
        self._console.print(printable(shown))

    def _turn(self, message: str = "", turn_id: str = "") -> TurnStream:
        request = chat_pb2.ChatRequest(message=message, session_id=self._session_id)
        if self._context.matter_id:
            request.matter_context.CopyFrom(self._context)
        return TurnStream(self._client, request, turn_id)

    async def _run(self, turn: TurnStream) -> int:
        """Shows a turn to its end. Raises CommandError, KeyboardInterrupt."""
        try:
            with _cancelling(turn):
                final = await self._follow(turn)
        except grpc.aio.AioRpcError as error:
            raise _told(error, self._client.address) from error
        if final.exit_reason == turns_pb2.EXIT_REASON_CANCELLED:
            return INTERRUPTED
        return 0 if final.exit_reason in ANSWERED else 1

    async def _follow(self, turn: TurnStream) -> chat_pb2.FinalState:
        return await (self._print_events(turn) if self._as_json else self._show(turn))

    async def _print_events(self, turn: TurnStream) -> chat_pb2.FinalState:
        final = chat_pb2.FinalState()
        async for event in turn.events():
            print_json(MessageToDict(event, preserving_proto_field_name=True))
            final = event.final_state
        return final

    async def _show(self, turn: TurnStream) -> chat_pb2.FinalState:
        """Asks the person at the terminal about calls that wait for an approval."""
        transcript, screen = Transcript(), Screen(self._console)
        final = chat_pb2.FinalState()
        try:
            async with asking(self._client, screen, Terminal.of_stdin()) as approvals:
                async for event in turn.events():
                    for step in transcript.apply(event):
                        screen.show(step)
                    approvals.note(event)
                    final = event.final_state
        finally:
            screen.close()
        return final


def _told(error: grpc.aio.AioRpcError, address: str) -> CommandError:
    message, turn_id = explain(error, address), failure(error).turn_id
    return SessionBusy(message, turn_id) if turn_id else CommandError(message)


async def _matter_context(client: Client, matter_name: str, document_name: str) -> context_pb2.MatterContext:
    if not matter_name:
        return context_pb2.MatterContext()
    matter = await find_matter(client, matter_name)
    document = await find_document(client, matter, document_name) if document_name else matters_pb2.Document()
    return context_pb2.MatterContext(
        matter_id=matter.matter_id,
        matter_name=matter.name,
        document_id=document.document_id,
        document_name=document.filename,
    )


@contextmanager
def _cancelling(turn: TurnStream) -> Iterator[None]:
    """The first Ctrl-C cancels the turn, the second leaves."""
    loop, asking = asyncio.get_running_loop(), asyncio.current_task()
    cancels: list[asyncio.Task[None]] = []

    async def cancel() -> None:
        with suppress(grpc.aio.AioRpcError):
            await turn.cancel()

    def interrupted() -> None:
        if cancels and asking:
            asking.cancel()
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
