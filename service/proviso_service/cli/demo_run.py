"""Carries the demo out against a real server and checks what it shows."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import proviso_service
from proviso_client.v1 import chat_pb2, context_pb2, matters_pb2, turns_pb2
from proviso_service.cli.client import Client, connect, create_matter
from proviso_service.cli.demo_resume import cut_and_resume
from proviso_service.cli.demo_script import CUT_QUESTION, EVENTS_BEFORE_CUT, GO_ON, MATTER, SCRIPT, Question
from proviso_service.cli.output import console
from proviso_service.cli.problems import CommandError
from proviso_service.cli.screen import Screen
from proviso_service.cli.server_process import running_server
from proviso_service.cli.transcript import Note, Transcript
from proviso_service.cli.turn_stream import TurnStream
from proviso_service.cli.uploads import Ingest, Outcome, Result

SAMPLES = Path(proviso_service.__file__).parent / "samples" / "northwind"


async def run_demo(folder: Path, models_dir: Path) -> None:
    """Raises CommandError at the first thing that is not as it should be."""
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
    """The demo from upload to resumption, against the server at `address`. Raises CommandError."""
    async with connect(address) as client:
        matter = await _upload_samples(client)
        for question in SCRIPT:
            await _ask(client, matter, question)
        await _show_resume(client, matter)


def _as_typed(path: Path) -> Path:
    """A path as one would type it here: relative to the current folder where it lies inside."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


async def _upload_samples(client: Client) -> matters_pb2.Matter:
    files = sorted(path for path in SAMPLES.iterdir() if path.suffix in {".md", ".txt"})
    _heading(f"Uploading {len(files)} sample agreements to the matter {MATTER!r}")
    matter = await create_matter(client, MATTER)
    begin = time.monotonic()
    outcomes = await Ingest(client, matter.matter_id, files, _show_outcomes).run()
    if failed := [outcome for outcome in outcomes if outcome.result is not Result.READY]:
        raise CommandError(f"{failed[0].path.name} was not ingested: {failed[0].reason}")
    chunks = sum(outcome.chunks for outcome in outcomes)
    _say(f"{len(outcomes)} documents, {chunks} passages searchable after {time.monotonic() - begin:.1f} s")
    return matter


def _show_outcomes(_: float, outcomes: Sequence[Outcome]) -> None:
    for outcome in outcomes:
        _say(f"{outcome.path.name}: {outcome.result}, {outcome.chunks} passages")


async def _ask(client: Client, matter: matters_pb2.Matter, question: Question) -> None:
    _heading(question.title)
    console().print(f"> {question.message}")
    turn = TurnStream(client, _request(matter, question))
    transcript, screen = Transcript(), Screen(console())
    final = chat_pb2.FinalState()
    try:
        async for event in turn.events():
            _show([event], transcript, screen)
            if event.HasField("final_state"):
                final = event.final_state
    finally:
        screen.close()
    _check(question, final)


def _request(matter: matters_pb2.Matter, question: Question) -> chat_pb2.ChatRequest:
    request = chat_pb2.ChatRequest(message=question.message, session_id=question.session)
    if question.with_matter:
        request.matter_context.CopyFrom(context_pb2.MatterContext(matter_id=matter.matter_id, matter_name=matter.name))
    return request


def _check(question: Question, final: chat_pb2.FinalState) -> None:
    if final.exit_reason not in question.exit_reasons:
        raise CommandError(f"{question.message!r} ended in {turns_pb2.ExitReason.Name(final.exit_reason)}")
    if final.context_problem != question.context_problem:
        problem = chat_pb2.ContextProblem.Name(final.context_problem)
        raise CommandError(f"{question.message!r} ended with context problem {problem}")
    if question.must_cite and not final.citations:
        raise CommandError(f"{question.message!r} was answered without a citation")


async def _show_resume(client: Client, matter: matters_pb2.Matter) -> None:
    _heading("A stream is cut in the middle and resumed")
    console().print(f"> {CUT_QUESTION}")
    request = _request(matter, Question("", CUT_QUESTION, session="demo-cut"))
    resumed = await cut_and_resume(client, request, EVENTS_BEFORE_CUT)
    transcript, screen = Transcript(), Screen(console())
    _show(resumed.before, transcript, screen)
    screen.show(Note(f"-- cut after event {resumed.cut_after}; ResumeChat(after_sequence={resumed.cut_after}) --"))
    _show(resumed.after, transcript, screen)
    screen.close()
    _say(f"Compared with a replay of all {resumed.last_sequence} events: nothing lost, nothing repeated")


def _show(events: Sequence[chat_pb2.AgentEvent], transcript: Transcript, screen: Screen) -> None:
    for event in events:
        for step in transcript.apply(event):
            screen.show(step)


def _heading(text: str) -> None:
    console().print(f"\n== {text}", style="bold")


def _say(text: str) -> None:
    console().print(f"  {text}", style="dim")
