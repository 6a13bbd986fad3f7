"""A server that speaks OpenAI's API behind the whole service: its wire on one side, gRPC on the other."""

import asyncio
import logging
import socket
import time
import traceback
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from structlog.testing import capture_logs

from proviso_client.v1 import chat_pb2
from proviso_service.turns import ExitCause, ExitReason, semantics_of
from tests.support.gemini_replies import Ending, HangsUp, Refused, Reply
from tests.support.openai_server import (
    KEY,
    MODEL,
    OpenAIServer,
    breaks_with,
    calls,
    cut,
    openai_server,
    refuses,
    says,
)
from tests.support.running import (
    AGREEMENT,
    RunningService,
    cause_of,
    chat_request,
    final_of,
    input_of,
    reason_of,
    running_service,
    text_of,
    without_times,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

FINE = says("Hello ", "there.")
LIMITED = refuses(429, kind="rate_limit_error", retry_after="0.01")
UNAVAILABLE = refuses(503, kind="server_error")
TURNS = {"retry_base_s": 0.001, "retry_max_s": 0.002, "cache_ttl_s": 0}


def settings(base_url: str, **more: Any) -> dict[str, Any]:
    chosen = {"llm": f"openai:{MODEL}", "OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{base_url}/v1"}
    # Every turn is to reach the model: many ask the same question.
    return {**chosen, "turns": TURNS, "chat_model": {"silence_s": 2.0}} | more


@dataclass(frozen=True)
class World:
    openai: OpenAIServer
    service: RunningService
    matter_id: str


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> AsyncIterator[World]:
    data_dir = tmp_path_factory.mktemp("openai") / "data"
    async with (
        openai_server() as openai,
        running_service(data_dir, models_dir, **settings(openai.base_url)) as service,
    ):
        yield World(openai, service, await service.create_matter(Services_Agreement=AGREEMENT))


@pytest_asyncio.fixture(loop_scope="module")
async def world(shared: World) -> World:
    """The shared one, with nothing left of the test before."""
    assert shared.openai.left == 0
    shared.openai.asked.clear()
    shared.openai.attempts = 0
    return shared


async def test_a_conversation_with_tool_calls_is_completed_with_citations(world: World) -> None:
    wanted: list[tuple[str, dict[str, Any]]] = [
        ("isaacus_search", {"query": "governing law"}),
        ("list_matter_documents", {}),
    ]
    world.openai.then(calls(*wanted), says("It is governed by ", "“the laws of the State of Oregon” [1]."))
    events = await world.service.ask("What is the governing law?", world.matter_id)
    final = final_of(events)
    assert (reason_of(final), final.cycles, final.tool_calls) == (ExitReason.COMPLETED, 2, 2)
    assert final.message == text_of(events) == "It is governed by “the laws of the State of Oregon” [1]."
    assert [c.quote for c in final.citations] == ["the laws of the State of Oregon"]
    assert (final.usage.input_tokens, final.usage.output_tokens, final.usage.model_calls) == (200, 9, 2)
    assert [input_of(e) for e in events if e.WhichOneof("event") == "tool_start"] == [args for _, args in wanted]
    first, second = world.openai.asked
    assert {tool.function.name for tool in first.tools} >= {"isaacus_search", "list_matter_documents"}
    assert [message.role for message in second.messages] == ["system", "user", "assistant", "tool", "tool"]


async def test_chat_and_invoke_give_the_same_final_state(world: World) -> None:
    world.openai.then(*[calls(("list_matter_documents", {})), FINE] * 2)
    streamed = final_of(await world.service.ask("How many?", world.matter_id))
    invoked = (await world.service.chat.Invoke(chat_request("How many?", world.matter_id))).final_state
    assert without_times(streamed) == without_times(invoked)


COMPLETED = (ExitReason.COMPLETED, None)
FAILED, REFUSED = (ExitReason.LLM_ERROR, ExitCause.PROVIDER_FAILED), (ExitReason.LLM_ERROR, ExitCause.PROVIDER_REFUSED)
BLOCKED, CUT, EMPTY = (
    (ExitReason.LLM_GENERATION_FAILURE, cause) for cause in (ExitCause.BLOCKED, ExitCause.CUT, ExitCause.EMPTY)
)
NO_QUOTA = (ExitReason.RATE_LIMITED, ExitCause.OVER_BUDGET)
OVER_QUOTA = refuses(429, kind="insufficient_quota")


@pytest.mark.parametrize(
    ("replies", "ending", "model_calls"),
    [
        pytest.param([LIMITED] * 3, (ExitReason.RATE_LIMITED, None), 3, id="429 for ever"),
        pytest.param([LIMITED, LIMITED, FINE], COMPLETED, 3, id="429 twice, then fine"),
        pytest.param([OVER_QUOTA], NO_QUOTA, 1, id="429, no quota left"),
        pytest.param([refuses(402)], (ExitReason.LLM_ERROR, ExitCause.OVER_BUDGET), 1, id="402"),
        pytest.param([UNAVAILABLE] * 3, FAILED, 3, id="503 for ever"),
        pytest.param([refuses(500), FINE], COMPLETED, 2, id="500, then fine"),
        pytest.param([Refused(502, b"<html>")] * 3, FAILED, 3, id="502 of a proxy"),
        pytest.param([HangsUp(), FINE], COMPLETED, 2, id="no answer, then fine"),
        pytest.param([refuses(400)], REFUSED, 1, id="400"),
        pytest.param([refuses(401)], REFUSED, 1, id="401"),
        pytest.param([refuses(403)], REFUSED, 1, id="403"),
        pytest.param([refuses(404)], REFUSED, 1, id="404"),
        pytest.param([refuses(409)], REFUSED, 1, id="409, which the client would try again"),
        pytest.param([says("Sure, ", finish="content_filter")], BLOCKED, 1, id="reply blocked"),
        pytest.param([says(finish="content_filter")], BLOCKED, 1, id="reply blocked before its first word"),
        pytest.param([says("A b", finish="length")], CUT, 1, id="reply too long"),
        pytest.param([says()] * 2, EMPTY, 2, id="empty twice"),
        pytest.param([cut("Hel"), FINE], COMPLETED, 2, id="cut, then fine"),
        pytest.param([cut("Hel")] * 3, FAILED, 3, id="always cut"),
        pytest.param([cut("Hel", ending=Ending.WHOLE), FINE], COMPLETED, 2, id="ends early"),
        pytest.param([breaks_with("server_error", "Hel"), FINE], COMPLETED, 2, id="error in it"),
        pytest.param(
            [breaks_with("insufficient_quota")],
            (ExitReason.RATE_LIMITED, ExitCause.OVER_BUDGET),
            1,
            id="no quota left in it",
        ),
        pytest.param([breaks_with("invalid_request_error")], (ExitReason.LLM_ERROR, None), 1, id="final error in it"),
        pytest.param([cut("Hel", ending=Ending.STALLS), FINE], COMPLETED, 2, id="stalls, then fine"),
        pytest.param([cut(ending=Ending.STALLS)] * 3, FAILED, 3, id="nothing comes"),
    ],
)
async def test_a_fault_ends_in_its_exit_reason_and_cause(
    world: World, replies: list[Reply], ending: tuple[ExitReason, ExitCause | None], model_calls: int
) -> None:
    world.openai.then(*replies)
    events = await world.service.ask("Hello", world.matter_id)
    final = final_of(events)
    assert (reason_of(final), cause_of(final)) == ending
    assert world.openai.attempts == final.usage.model_calls == model_calls
    semantics = semantics_of(*ending)
    assert chat_pb2.Retryable.Name(final.retryable) == f"RETRYABLE_{semantics.retryable.name}"
    assert final.message == ("Hello there." if ending == COMPLETED else semantics.message)
    assert text_of(events) == ("Hello there." if ending == COMPLETED else "")


async def test_the_answer_step_declares_the_tools_and_switches_calling_off(world: World) -> None:
    listing = ("list_matter_documents", dict[str, Any]())
    world.openai.then(calls(*[listing] * 4), says("There is one document."))
    final = final_of(await world.service.ask("Which documents are there?", world.matter_id))
    assert (reason_of(final), final.message) == (ExitReason.MAX_TOOL_CALLS_REACHED, "There is one document.")
    first, last = world.openai.asked
    assert (first.tool_choice, last.tool_choice) == (None, "none")
    assert last.tools == first.tools != []


@pytest.mark.parametrize("as_date", [False, True])
async def test_a_wait_beyond_the_turns_end_is_told_instead(world: World, as_date: bool) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=3600), usegmt=True)
    world.openai.then(refuses(429, retry_after=date if as_date else "3600"))
    final = final_of(await world.service.ask("Hello", world.matter_id))
    assert reason_of(final) is ExitReason.RATE_LIMITED
    assert 3500 < final.retry_after.seconds <= 3600
    assert world.openai.attempts == 1


async def test_neither_key_nor_content_comes_into_logs_or_events(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    echo = f"The key {KEY} may not ask about Quixote"
    faults: list[Reply] = [
        refuses(400, echo),
        refuses(401, echo, kind=echo),
        Refused(400, echo.encode(), {"content-type": "text/plain"}),
        breaks_with(echo, "Hel", message=echo),
    ]
    with capture_logs() as entries:
        for fault in faults:
            world.openai.then(fault)
            events = await world.service.ask("Is Quixote liable?", world.matter_id)
            assert reason_of(final_of(events)) is ExitReason.LLM_ERROR
            assert KEY not in str(events)
    failures = [entry["exc_info"] for entry in entries if entry["event"] == "model_call_failed"]
    told = "".join(line for failure in failures for line in traceback.format_exception(failure))
    assert len(failures) == len(faults)
    assert "check its key" in told
    logged = "".join([told, caplog.text, *(str(record.__dict__) for record in caplog.records), *map(str, entries)])
    assert KEY not in logged
    assert "Quixote" not in logged


async def test_a_server_of_ones_own_needs_no_key(tmp_path: Path, models_dir: Path) -> None:
    async with openai_server() as openai:
        openai.key = "none"
        openai.then(FINE)
        chosen = settings(openai.base_url, OPENAI_API_KEY=None)
        async with running_service(tmp_path / "data", models_dir, **chosen) as service:
            final = final_of(await service.ask("Hello", await service.create_matter()))
    assert reason_of(final) is ExitReason.COMPLETED


async def test_no_connection_outlives_the_service(tmp_path: Path, models_dir: Path) -> None:
    async with openai_server() as openai:
        openai.then(FINE)
        async with running_service(tmp_path / "data", models_dir, **settings(openai.base_url)) as service:
            await service.ask("Hello", await service.create_matter())
        async with asyncio.timeout(5):
            await openai.all_hung_up()


async def test_an_outage_is_answered_at_once_until_a_probe_finds_it_over(tmp_path: Path, models_dir: Path) -> None:
    async with openai_server() as openai:
        chosen = settings(openai.base_url, chat_model={"failures_in_a_row": 3, "pause_s": 1.0})
        openai.then(*[LIMITED] * 3, FINE)
        async with running_service(tmp_path / "data", models_dir, **chosen) as service:
            matter_id = await service.create_matter()
            await service.ask("Hello", matter_id)
            refused = final_of(await service.ask("Hello", matter_id))
            assert (reason_of(refused), refused.usage.model_calls) == (ExitReason.RATE_LIMITED, 0)
            assert 0 < refused.retry_after.ToTimedelta().total_seconds() <= 1
            assert openai.attempts == 3
            final = await answered(service, matter_id)
    assert (reason_of(final), openai.attempts) == (ExitReason.COMPLETED, 4)


async def test_failing_turns_of_one_user_do_not_stop_the_others(tmp_path: Path, models_dir: Path) -> None:
    async with openai_server() as openai:
        chosen = settings(openai.base_url, chat_model={"failures_in_a_row": 3, "pause_s": 60.0})
        openai.then(*[UNAVAILABLE] * 3, FINE)
        async with running_service(tmp_path / "data", models_dir, **chosen) as service:
            matter_id = await service.create_matter()
            failed = final_of(await service.ask("Hello", matter_id, user_id="ada"))
            paused = final_of(await service.ask("Hello", matter_id, user_id="ada"))
            other = final_of(await service.ask("Hello", matter_id, user_id="ben"))
    assert (reason_of(failed), cause_of(failed)) == FAILED
    assert (reason_of(paused), cause_of(paused)) == (ExitReason.LLM_ERROR, ExitCause.PROVIDER_PAUSED)
    assert paused.retryable == failed.retryable == chat_pb2.RETRYABLE_YES
    for final in (failed, paused):
        assert 0 < final.retry_after.ToTimedelta().total_seconds() <= 60
    assert (reason_of(other), openai.attempts) == (ExitReason.COMPLETED, 4)


async def answered(service: RunningService, matter_id: str) -> chat_pb2.FinalState:
    """Of the first turn that is."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        final = final_of(await service.ask("Hello", matter_id))
        if reason_of(final) is not ExitReason.RATE_LIMITED:
            return final
    raise AssertionError("the model is left alone for ever")


async def test_a_server_that_is_not_there_is_an_error_of_the_model(tmp_path: Path, models_dir: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
    async with running_service(tmp_path / "data", models_dir, **settings(address)) as service:
        final = final_of(await service.ask("Hello", await service.create_matter()))
    assert reason_of(final) is ExitReason.LLM_ERROR
    assert final.usage.model_calls == 3
