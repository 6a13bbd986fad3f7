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
from proviso_service.cli.approvals import asking
from proviso_service.cli.connection import Connection, connect, events_of, find_document, find_matter
from proviso_service.cli.output import CommandError, console, print_json, printable
from proviso_service.cli.server_options import Server
from proviso_service.cli.session_commands import Action, SessionCommands, parse_command
from proviso_service.cli.terminal import Terminal, hiding_what_is_typed, keeping_what_is_typed, read_message
from proviso_service.cli.transcript import Screen, Transcript

ANSWERED = (turns_pb2.EXIT_REASON_COMPLETED, turns_pb2.EXIT_REASON_MAX_TOOL_CALLS_REACHED)
INTERRUPTED = 130
"""Exit code of a command that was stopped by Ctrl-C."""
REFUSED = (turns_pb2.EXIT_CAUSE_NOTHING_FOUND, turns_pb2.EXIT_CAUSE_UNGROUNDED)
HOW_TO_CONTINUE = "goes on in a new one, with the items, the matter and the last answers of this one"


def chat(
    server: Server,
    *,
    matter_name: str,
    document_name: str,
    session_id: str,
    message: str | None,
    raw: bool,
    as_json: bool,
) -> int:
    """Asks one message, or reads messages until the input ends. Returns the exit code. Raises CommandError."""
    with asyncio.Runner() as runner:
        session_id = session_id or _new_session_id()
        opening = Conversation.open(server, matter_name, document_name, session_id, raw=raw, as_json=as_json)
        conversation = runner.run(opening)
        try:
            if message is not None:
                return runner.run(conversation.ask(message))
            with keeping_what_is_typed():
                _read_messages(runner, conversation)
            return 0
        finally:
            runner.run(conversation.close())


def _read_messages(runner: asyncio.Runner, conversation: "Conversation") -> None:
    """Reads messages and commands from the terminal. A call that fails does not end the conversation, and a message
    that came to nothing stands in the next prompt."""
    conversation.greet()
    while True:
        try:
            line = read_message(conversation.returned)
        except EOFError:
            break
        if line.strip() in {"exit", "quit"}:
            break
        if not line.strip():
            continue
        try:
            with hiding_what_is_typed():
                runner.run(conversation.command(line) if line.startswith("/") else conversation.ask_next(line))
        except CommandError as error:
            sys.stderr.write(f"proviso: {error.message}\n")
    conversation.say_how_to_go_on()


def _new_session_id() -> str:
    return f"cli-{uuid.uuid4().hex[:12]}"


class Conversation:
    """A session with a server. It is made by `open`, and has to be closed in the end.

    `returned` is a message that came to nothing and that the person may want to send again; empty when there is none.
    """

    def __init__(
        self,
        connection: Connection,
        context: context_pb2.MatterContext,
        session_id: str,
        stack: AsyncExitStack,
        *,
        raw: bool,
        as_json: bool,
    ) -> None:
        self.returned = ""
        self._connection = connection
        self._context = context
        self._session_id = session_id
        self._stack = stack
        release = chat_pb2.TEXT_RELEASE_RAW if raw else chat_pb2.TEXT_RELEASE_UNSPECIFIED
        self._options = chat_pb2.ChatOptions(text_release=release)
        self._as_json = as_json
        self._console = console()
        self._overflow = ""

    @classmethod
    async def open(
        cls, server: Server, matter_name: str, document_name: str, session_id: str, *, raw: bool, as_json: bool
    ) -> "Conversation":
        """Connects, and finds the matter and the document by their names. Raises CommandError."""
        async with AsyncExitStack() as stack:
            connection = await stack.enter_async_context(connect(server))
            context = await _matter_context(connection, matter_name, document_name)
            return cls(connection, context, session_id, stack.pop_all(), raw=raw, as_json=as_json)
        raise AssertionError("unreachable")

    async def close(self) -> None:
        await self._stack.aclose()

    def greet(self) -> None:
        about = f"Matter {self._context.matter_name}" if self._context.matter_id else "No matter"
        about += f", {self._context.document_name}" if self._context.document_id else ""
        self._say(f"{about}. /help lists commands, Ctrl-C cancels an answer, Ctrl-D ends the conversation.")

    def say_how_to_go_on(self) -> None:
        self._say(f"\nGo on later with: proviso chat --session {self._session_id}")

    async def ask(self, message: str) -> int:
        """Sends a message and shows its turn. Returns the exit code that the end of the turn stands for.

        Raises CommandError, and KeyboardInterrupt at the second Ctrl-C.
        """
        with self._connection.explaining_failures():
            final = await self._show(self._turn(message))
        if _is_full(final) and not self._as_json:
            self._say(
                f"This session is full. In proviso chat --session {self._session_id}, /continue {HOW_TO_CONTINUE}."
            )
        return _exit_code(final)

    async def ask_next(self, message: str) -> None:
        """Sends a message as soon as the session is free, and shows its turn. Raises what `ask` raises.

        The session may still be answering an earlier message, for example after a chat that was left while a tool call
        waited for an approval. That answer is shown first. When it is cancelled, the new message is not sent.
        """
        self.returned, self._overflow = message, ""
        with self._connection.explaining_failures():
            while True:
                try:
                    final = await self._show(self._turn(message))
                except SessionBusy as busy:
                    earlier = self._connection.client.resume(busy.turn_id)
                else:
                    break
                self._say("This session is still answering an earlier message. Yours is sent after it.")
                if _exit_code(await self._show(earlier)) == INTERRUPTED:
                    return
        if not is_lost(final):
            self.returned = ""
        self._offer_to_continue(final, message)

    async def command(self, line: str) -> None:
        """Carries out a line that begins with a slash. Raises CommandError."""
        self.returned = ""
        commands = SessionCommands(self._connection.client, self._session_id, self._context)
        command = parse_command(line)
        if command.action is Action.CONTINUE:
            await self._continue(commands)
            return
        with self._connection.explaining_failures():
            shown = await commands.run(command)
        self._console.print(printable(shown))

    async def _continue(self, commands: SessionCommands) -> None:
        """Goes on in a new session, and sends the message there that found no room in this one."""
        with self._connection.explaining_failures():
            session = await commands.go_on(_new_session_id())
        self._session_id = session.session_id
        taken = f"with {session.message_count} messages of the old one" if session.message_count else "without messages"
        self._say(f"This is session {session.session_id} now, {taken}. The old one stays as it is.")
        if self._overflow:
            await self.ask_next(self._overflow)

    def _offer_to_continue(self, final: chat_pb2.FinalState, message: str) -> None:
        if _is_full(final):
            self.returned, self._overflow = "", message
            self._say(f"This session is full. /continue {HOW_TO_CONTINUE}, and sends your message there.")
        elif final.request_context.fill.near_limit:
            self._say(f"This session is nearly full. /continue {HOW_TO_CONTINUE}.")

    def _say(self, text: str) -> None:
        self._console.print(text, style="dim")

    def _turn(self, message: str) -> AsyncTurn:
        client, session_id, options = self._connection.client, self._session_id, self._options
        if self._context.matter_id:
            return client.chat(message, session_id=session_id, options=options, matter_context=self._context)
        return client.chat(message, session_id=session_id, options=options)

    async def _show(self, turn: AsyncTurn) -> chat_pb2.FinalState:
        """Shows a turn to its end."""
        async with turn:
            with _cancelling(turn):
                return await (self._print_events(turn) if self._as_json else self._print_transcript(turn))

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


def _exit_code(final: chat_pb2.FinalState) -> int:
    """The exit code that the end of a turn stands for."""
    if final.exit_reason == turns_pb2.EXIT_REASON_CANCELLED:
        return INTERRUPTED
    return 0 if final.exit_reason in ANSWERED else 1


def _is_full(final: chat_pb2.FinalState) -> bool:
    is_over = final.exit_reason == turns_pb2.EXIT_REASON_MAX_CONTEXT_REACHED
    return is_over and final.exit_cause != turns_pb2.EXIT_CAUSE_MESSAGE_TOO_LONG


def is_lost(final: chat_pb2.FinalState) -> bool:
    """Whether the message came to nothing: it was neither answered nor refused after a look at the documents, and
    nobody cancelled it."""
    if final.exit_reason == turns_pb2.EXIT_REASON_CANCELLED:
        return final.retryable == chat_pb2.RETRYABLE_YES
    return final.exit_reason not in ANSWERED and final.exit_cause not in REFUSED


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
