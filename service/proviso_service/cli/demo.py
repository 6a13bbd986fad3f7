"""`proviso demo`: the whole service at work on sample documents, and checks of what it shows."""

import asyncio
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import proviso_service
from proviso_client import AsyncClient, AsyncTurn
from proviso_client.v1 import chat_pb2, context_pb2, matters_pb2, turns_pb2
from proviso_service.cli.connection import Connection, connect, events_of
from proviso_service.cli.ingest import MatterIngest, Outcome, Result
from proviso_service.cli.local_server import prepare_models, running_server
from proviso_service.cli.output import CommandError, console
from proviso_service.cli.server_options import Server
from proviso_service.cli.transcript import Note, Screen, Transcript

SAMPLES = Path(proviso_service.__file__).parent / "samples" / "northwind"
MATTER = "Northwind Robotics"
RESUME_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Question:
    """A message, and how its turn must end.

    Without `with_matter`, the request does not name the matter, as a back end does while a person looks at one.
    Questions of the same `session` form one conversation. A turn must end for one of `exit_reasons`, with
    `context_problem`, and with at least one citation where `must_cite` is set.
    """

    title: str
    message: str
    with_matter: bool = True
    session: str = "demo"
    exit_reasons: tuple["turns_pb2.ExitReason", ...] = (turns_pb2.EXIT_REASON_COMPLETED,)
    context_problem: "chat_pb2.ContextProblem" = chat_pb2.CONTEXT_PROBLEM_UNSPECIFIED
    must_cite: bool = False


QUESTIONS = (
    Question("List", "What documents are in this matter?"),
    Question("Show", "Show me the mutual non-disclosure agreement."),
    Question("Find", "Find the clauses about termination for convenience."),
    Question("Query", "Find clauses obligating the Customer.", must_cite=True),
    Question("Types", "What types of clauses are in the mutual non-disclosure agreement?", must_cite=True),
    Question("Count", "Which documents mention insurance?"),
    Question("Fact", "What is the governing law of the services agreement?", must_cite=True),
    Question("Clause", "What does the services agreement say about limitation of liability?", must_cite=True),
    Question("Compare", "Compare the governing law of the services agreement and the software licence agreement."),
    Question("Follow-up: the session remembers its matter", "And what about the commercial lease?", with_matter=False),
    Question("Small talk", "Hello, what can you do for me?"),
    Question(
        "Out of scope",
        "What will the weather be like in Oslo tomorrow?",
        exit_reasons=(turns_pb2.EXIT_REASON_COMPLETED, turns_pb2.EXIT_REASON_LLM_GENERATION_FAILURE),
    ),
    Question(
        "No matter: the assistant asks for one",
        "Which documents mention insurance?",
        with_matter=False,
        session="demo-without-matter",
        context_problem=chat_pb2.CONTEXT_PROBLEM_MATTER_REQUIRED,
    ),
)
CUT_QUESTION = Question("", "What notice must be given to terminate each agreement?", session="demo-cut")
EVENTS_BEFORE_CUT = 4

GO_ON = """To go on:
  {proviso} serve
  {proviso} ingest {samples} --matter "{matter}"
  {proviso} chat --matter "{matter}"
  grpcurl -plaintext -d '{{"name": "{matter}"}}' 127.0.0.1:50051 proviso.v1.MatterService/ListMatters
"""


def run_demo(models_dir: Path) -> None:
    """Runs the demo in a temporary folder. Raises CommandError at the first thing that is not as it should be."""
    prepare_models(models_dir)
    with tempfile.TemporaryDirectory(prefix="proviso-demo-") as folder:
        asyncio.run(_run(Path(folder), models_dir.resolve()))


async def _run(folder: Path, models_dir: Path) -> None:
    begin = time.monotonic()
    _heading("Starting a server on this machine")
    async with running_server(folder, models_dir) as server:
        _say(f"Serving at {server.address} after {server.start_s:.1f} s, data in {folder}")
        await converse(server.address)
        exit_code = await server.stop()
    if exit_code != 0:
        raise CommandError(f"The server ended with exit code {exit_code} after SIGTERM")
    _heading(f"Done in {time.monotonic() - begin:.0f} s; the server has stopped")
    console().print(
        GO_ON.format(proviso=_as_typed(Path(sys.argv[0])), samples=_as_typed(SAMPLES), matter=MATTER), end=""
    )


async def converse(address: str) -> None:
    """Runs the demo against a server, from the upload to a stream that is cut and resumed. Raises CommandError."""
    async with connect(Server(address)) as connection:
        matter = await _upload_samples(connection)
        for question in QUESTIONS:
            await _ask(connection.client, matter, question)
        await _show_resume(connection.client, matter)


def _as_typed(path: Path) -> Path:
    """Returns a path as one would type it here: relative to the current folder where it lies inside."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


async def _upload_samples(connection: Connection) -> matters_pb2.Matter:
    files = sorted(path for path in SAMPLES.iterdir() if path.suffix in {".md", ".txt"})
    _heading(f"Uploading {len(files)} sample agreements to the matter {MATTER!r}")
    matter = await connection.client.matters.create(MATTER)
    begin = time.monotonic()
    outcomes = await MatterIngest(connection, matter.matter_id, files, _show_outcomes).run()
    if failed := [outcome for outcome in outcomes if outcome.result is not Result.READY]:
        raise CommandError(f"{failed[0].path.name} was not ingested: {failed[0].reason}")
    chunks = sum(outcome.chunks for outcome in outcomes)
    _say(f"{len(outcomes)} documents, {chunks} passages searchable after {time.monotonic() - begin:.1f} s")
    return matter


def _show_outcomes(_: float, outcomes: Sequence[Outcome]) -> None:
    for outcome in outcomes:
        _say(f"{outcome.path.name}: {outcome.result}, {outcome.chunks} passages")


async def _ask(client: AsyncClient, matter: matters_pb2.Matter, question: Question) -> None:
    _heading(question.title)
    console().print(f"> {question.message}")
    turn = _turn(client, matter, question)
    transcript, screen = Transcript(), Screen(console())
    try:
        async for event in events_of(turn):
            _show([event], transcript, screen)
    finally:
        screen.close()
    _check(question, await turn.result())


def _turn(client: AsyncClient, matter: matters_pb2.Matter, question: Question) -> AsyncTurn:
    if not question.with_matter:
        return client.chat(question.message, session_id=question.session)
    context = context_pb2.MatterContext(matter_id=matter.matter_id, matter_name=matter.name)
    return client.chat(question.message, session_id=question.session, matter_context=context)


def _check(question: Question, final: chat_pb2.FinalState) -> None:
    if final.exit_reason not in question.exit_reasons:
        raise CommandError(f"{question.message!r} ended in {turns_pb2.ExitReason.Name(final.exit_reason)}")
    if final.context_problem != question.context_problem:
        problem = chat_pb2.ContextProblem.Name(final.context_problem)
        raise CommandError(f"{question.message!r} ended with context problem {problem}")
    if question.must_cite and not final.citations:
        raise CommandError(f"{question.message!r} was answered without a citation")


async def _show_resume(client: AsyncClient, matter: matters_pb2.Matter) -> None:
    _heading("A stream is cut in the middle and resumed")
    console().print(f"> {CUT_QUESTION.message}")
    before = await _first_events(_turn(client, matter, CUT_QUESTION), EVENTS_BEFORE_CUT)
    turn_id, cut_after = before[-1].turn_id, before[-1].sequence
    after = await _all_events(client.resume(turn_id, cut_after, timeout_s=RESUME_TIMEOUT_S))
    replay = await _all_events(client.resume(turn_id, timeout_s=RESUME_TIMEOUT_S))
    if with_joined_tokens([*before, *after]) != with_joined_tokens(replay):
        raise CommandError("The resumed stream differs from a replay of the turn")
    transcript, screen = Transcript(), Screen(console())
    _show(before, transcript, screen)
    screen.show(Note(f"-- cut after event {cut_after}; ResumeChat(after_sequence={cut_after}) --"))
    _show(after, transcript, screen)
    screen.close()
    _say(f"Compared with a replay of all {replay[-1].sequence} events: nothing lost, nothing repeated")


async def _first_events(turn: AsyncTurn, count: int) -> list[chat_pb2.AgentEvent]:
    """Leaves a turn after `count` events, or just before the end of one that has fewer."""
    events: list[chat_pb2.AgentEvent] = []
    async with turn:
        async for event in events_of(turn):
            if event.HasField("final_state"):
                break
            events.append(event)
            if len(events) == count:
                break
    if not events:
        raise CommandError("The turn ended before its stream could be cut")
    return events


async def _all_events(turn: AsyncTurn) -> list[chat_pb2.AgentEvent]:
    return [event async for event in events_of(turn)]


def with_joined_tokens(events: Iterable[chat_pb2.AgentEvent]) -> list[tuple[str, str | bytes]]:
    """Joins the neighbouring tokens of each text, so that turns can be compared that were cut into other tokens.

    Returns a pair for each event: the id of a text with its words, or an empty id with any other event in bytes.
    """
    joined: list[tuple[str, str | bytes]] = []
    for event in events:
        if not event.HasField("token"):
            joined.append(("", event.SerializeToString(deterministic=True)))
        elif joined and joined[-1][0] == event.token.text_id:
            joined[-1] = (event.token.text_id, f"{joined[-1][1]!s}{event.token.text}")
        else:
            joined.append((event.token.text_id, event.token.text))
    return joined


def _show(events: Sequence[chat_pb2.AgentEvent], transcript: Transcript, screen: Screen) -> None:
    for event in events:
        for step in transcript.apply(event):
            screen.show(step)


def _heading(text: str) -> None:
    console().print(f"\n== {text}", style="bold")


def _say(text: str) -> None:
    console().print(f"  {text}", style="dim")
