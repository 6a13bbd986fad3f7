"""Gemini behind the whole service: its wire on one side, gRPC on the other."""

import json
import logging
import socket
import time
import traceback
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from structlog.testing import capture_logs

from proviso_client.v1 import chat_pb2
from proviso_service.turns import CAUSE_SEMANTICS, EXIT_SEMANTICS, ExitCause, ExitReason, semantics_of
from tests.support.gemini_replies import (
    MODEL,
    Ending,
    HangsUp,
    Refused,
    Reply,
    Streamed,
    blocked,
    breaks_with,
    calls,
    chunk,
    cut,
    error_info,
    refuses,
    retry_info,
    says,
)
from tests.support.gemini_server import KEY, GeminiServer, gemini_server
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
LIMITED = refuses(429, "RESOURCE_EXHAUSTED", retry_info("0.01s"))
UNAVAILABLE = refuses(503, "UNAVAILABLE")
RAW = chat_pb2.ChatOptions(text_release=chat_pb2.TEXT_RELEASE_RAW)
TURNS = {"retry_base_s": 0.001, "retry_max_s": 0.002, "cache_ttl_s": 0}


def settings(base_url: str, **more: Any) -> dict[str, Any]:
    chosen = {"llm": f"google_genai:{MODEL}", "GOOGLE_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": base_url}
    # Every turn is to reach Gemini: many ask the same question.
    return {**chosen, "turns": TURNS, "chat_model": {"silence_s": 2.0}} | more


@dataclass(frozen=True)
class GeminiWorld:
    gemini: GeminiServer
    service: RunningService
    matter_id: str


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> AsyncIterator[GeminiWorld]:
    data_dir = tmp_path_factory.mktemp("gemini") / "data"
    async with (
        gemini_server() as gemini,
        running_service(data_dir, models_dir, **settings(gemini.base_url)) as service,
    ):
        yield GeminiWorld(gemini, service, await service.create_matter(Services_Agreement=AGREEMENT))


@pytest_asyncio.fixture(loop_scope="module")
async def world(shared: GeminiWorld) -> GeminiWorld:
    """The shared one, with nothing left of the test before."""
    assert shared.gemini.left == 0
    shared.gemini.asked.clear()
    shared.gemini.attempts = 0
    return shared


def discarded(events: list[chat_pb2.AgentEvent]) -> list[str]:
    texts = (e.text_discarded for e in events if e.WhichOneof("event") == "text_discarded")
    return [chat_pb2.DiscardReason.Name(t.reason).removeprefix("DISCARD_REASON_") for t in texts]


def comparable(final: chat_pb2.FinalState) -> tuple[Any, ...]:
    """Without ids, times and tokens."""
    citations = [(c.number, c.answer_start, c.answer_end, c.start, c.end, c.heading, c.quote) for c in final.citations]
    return final.exit_reason, final.retryable, final.message, citations, final.cycles, final.tool_calls


async def test_a_conversation_with_tool_calls_is_completed_with_citations(world: GeminiWorld) -> None:
    wanted: list[tuple[str, dict[str, Any]]] = [
        ("isaacus_search", {"query": "governing law"}),
        ("list_matter_documents", {}),
    ]
    world.gemini.then(
        calls(*wanted, signature="a thought"), says("It is governed by ", "“the laws of the State of Oregon” [1].")
    )
    events = await world.service.ask("What is the governing law?", world.matter_id)
    final = final_of(events)
    assert (reason_of(final), final.cycles, final.tool_calls) == (ExitReason.COMPLETED, 2, 2)
    assert final.message == text_of(events) == "It is governed by “the laws of the State of Oregon” [1]."
    assert [c.quote for c in final.citations] == ["the laws of the State of Oregon"]
    assert (final.usage.input_tokens, final.usage.output_tokens, final.usage.model_calls) == (200, 12, 2)
    assert [input_of(e) for e in events if e.WhichOneof("event") == "tool_start"] == [args for _, args in wanted]
    assert all("look that up" not in str(event) for event in events)


async def test_tool_results_go_back_with_the_signature_of_their_thought(world: GeminiWorld) -> None:
    world.gemini.then(calls(("list_matter_documents", {}), signature="a thought"), says("There is one document."))
    await world.service.ask("Which documents are there?", world.matter_id)
    first, second = world.gemini.asked
    assert set(first.tool_names) >= {"isaacus_search", "list_matter_documents"}
    assert [content.role for content in second.contents] == ["user", "model", "user"]
    assert second.contents[1].parts[0].thought_signature == "YSB0aG91Z2h0"
    (result,) = second.contents[2].responses
    assert result.response["total_count"] == 1
    assert second.contents[0] == first.contents[0]


async def test_the_earlier_messages_of_a_session_are_sent(world: GeminiWorld) -> None:
    world.gemini.then(FINE, says("Hello again."))
    for message in ("Hi", "And now?"):
        await world.service.ask(message, world.matter_id, session_id="gemini-1")
    contents = world.gemini.asked[-1].contents
    assert [(c.role, c.text) for c in contents[:2]] == [("user", "Hi"), ("model", "Hello there.")]
    assert contents[2].text.endswith("And now?")


async def test_chat_and_invoke_give_the_same_final_state(world: GeminiWorld) -> None:
    world.gemini.then(*[calls(("list_matter_documents", {})), says("There is one document.")] * 2)
    streamed = final_of(await world.service.ask("How many?", world.matter_id))
    invoked = (await world.service.chat.Invoke(chat_request("How many?", world.matter_id))).final_state
    assert without_times(streamed) == without_times(invoked)


async def test_the_same_calls_and_words_give_what_the_embedded_model_gives(
    world: GeminiWorld, tmp_path: Path, models_dir: Path
) -> None:
    question = "What is the governing law of the services agreement?"
    async with running_service(tmp_path / "data", models_dir) as embedded:
        matter_id = await embedded.create_matter(Services_Agreement=AGREEMENT)
        (its_document,) = await embedded.wait_until_ready(matter_id)
        expected = await embedded.ask(question, matter_id)
    (document,) = await world.service.wait_until_ready(world.matter_id)
    steps: list[list[tuple[str, dict[str, Any]]]] = []
    kinds_before = ["", *(event.WhichOneof("event") or "" for event in expected)]
    for before, event in zip(kinds_before, expected, strict=False):
        if event.WhichOneof("event") == "tool_start":
            start = event.tool_start
            args = json.loads(start.input_json.replace(its_document.document_id, document.document_id))
            if before != "tool_start":
                steps.append([])
            steps[-1].append((start.tool, args))
    world.gemini.then(*(calls(*step) for step in steps), says(text_of(expected)))
    events = await world.service.ask(question, world.matter_id)
    inputs = [args for step in steps for _, args in step]
    assert [input_of(e) for e in events if e.WhichOneof("event") == "tool_start"] == inputs
    assert comparable(final_of(events)) == comparable(final_of(expected))
    assert final_of(events).citations


FAILED, REFUSED = (ExitReason.LLM_ERROR, ExitCause.PROVIDER_FAILED), (ExitReason.LLM_ERROR, ExitCause.PROVIDER_REFUSED)
RATE_LIMITED = (ExitReason.RATE_LIMITED, None)
COMPLETED = (ExitReason.COMPLETED, None)
DAILY = {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": "RequestsPerDayPerModel"}]}


def unusable(cause: ExitCause) -> tuple[ExitReason, ExitCause]:
    return ExitReason.LLM_GENERATION_FAILURE, cause


@pytest.mark.parametrize(
    ("replies", "ending", "model_calls", "voided"),
    [
        pytest.param([LIMITED] * 3, RATE_LIMITED, 3, [], id="429 for ever"),
        pytest.param([LIMITED, LIMITED, FINE], COMPLETED, 3, [], id="429 twice, then fine"),
        pytest.param(
            [refuses(429, "RESOURCE_EXHAUSTED", DAILY, retry_info("30s"))],
            (ExitReason.RATE_LIMITED, ExitCause.OVER_BUDGET),
            1,
            [],
            id="429 for the day",
        ),
        pytest.param([UNAVAILABLE] * 3, FAILED, 3, [], id="503 for ever"),
        pytest.param([refuses(500, "INTERNAL"), FINE], COMPLETED, 2, [], id="500, then fine"),
        pytest.param([Refused(502, b"<html>")] * 3, FAILED, 3, [], id="502 of a proxy"),
        pytest.param([HangsUp()] * 3, FAILED, 3, [], id="no answer"),
        pytest.param([refuses(400, "INVALID_ARGUMENT")], REFUSED, 1, [], id="400"),
        pytest.param([refuses(401, "UNAUTHENTICATED")], REFUSED, 1, [], id="401"),
        pytest.param([refuses(403, "PERMISSION_DENIED")], REFUSED, 1, [], id="403"),
        pytest.param([refuses(404, "NOT_FOUND")], REFUSED, 1, [], id="404"),
        pytest.param([blocked()], unusable(ExitCause.BLOCKED), 1, [], id="request blocked"),
        pytest.param([says()] * 2, unusable(ExitCause.EMPTY), 2, [], id="empty twice"),
        pytest.param([says(), FINE], COMPLETED, 2, [], id="empty, then fine"),
        pytest.param([says(finish="MALFORMED_FUNCTION_CALL"), FINE], COMPLETED, 2, [], id="malformed call, then fine"),
        pytest.param(
            [says(), says(finish="UNEXPECTED_TOOL_CALL")], unusable(ExitCause.MALFORMED), 2, [], id="empty, malformed"
        ),
        pytest.param([cut("Hel"), FINE], COMPLETED, 2, ["MODEL_RETRY"], id="cut, then fine"),
        pytest.param([cut("Hel")] * 3, FAILED, 3, ["MODEL_RETRY"] * 2 + ["NOT_FINAL"], id="always cut"),
        pytest.param([cut("Hel", ending=Ending.WHOLE), FINE], COMPLETED, 2, ["MODEL_RETRY"], id="ends early"),
        pytest.param(
            [cut("Hel", ending=Ending.WHOLE, last=b'data: {"cand'), FINE],
            COMPLETED,
            2,
            ["MODEL_RETRY"],
            id="ends inside a line",
        ),
        pytest.param([breaks_with(503, "UNAVAILABLE", "Hel"), FINE], COMPLETED, 2, ["MODEL_RETRY"], id="error in it"),
        pytest.param([cut("Hel", ending=Ending.STALLS), FINE], COMPLETED, 2, ["MODEL_RETRY"], id="stalls, then fine"),
        pytest.param([cut(ending=Ending.STALLS)] * 3, FAILED, 3, [], id="nothing comes"),
    ],
)
async def test_a_fault_ends_in_its_exit_reason_and_cause(
    world: GeminiWorld,
    replies: list[Reply],
    ending: tuple[ExitReason, ExitCause | None],
    model_calls: int,
    voided: list[str],
) -> None:
    world.gemini.then(*replies)
    events = await world.service.ask("Hello", world.matter_id, options=RAW)
    final = final_of(events)
    assert (reason_of(final), cause_of(final)) == ending
    assert world.gemini.attempts == final.usage.model_calls == model_calls
    assert discarded(events) == voided
    semantics = semantics_of(*ending)
    assert chat_pb2.Retryable.Name(final.retryable) == f"RETRYABLE_{semantics.retryable.name}"
    assert final.message == ("Hello there." if ending == COMPLETED else semantics.message)
    assert text_of(events) == ("Hello there." if ending == COMPLETED else "")


@pytest.mark.parametrize(
    ("finish", "cause", "attempts"),
    [
        ("SAFETY", ExitCause.BLOCKED, 1),
        ("PROHIBITED_CONTENT", ExitCause.BLOCKED, 1),
        ("BLOCKLIST", ExitCause.BLOCKED, 1),
        ("SPII", ExitCause.BLOCKED, 1),
        ("RECITATION", ExitCause.RECITATION, 1),
        ("MAX_TOKENS", ExitCause.CUT, 1),
        ("LANGUAGE", ExitCause.LANGUAGE, 1),
        ("OTHER", ExitCause.STOPPED, 1),
        ("A_REASON_OF_TOMORROW", ExitCause.STOPPED, 1),
        ("MALFORMED_FUNCTION_CALL", ExitCause.MALFORMED, 2),
        ("UNEXPECTED_TOOL_CALL", ExitCause.MALFORMED, 2),
    ],
)
@pytest.mark.parametrize("pieces", [(), ("The cap ", "is")], ids=["without text", "with text"])
@pytest.mark.filterwarnings("ignore:A_REASON_OF_TOMORROW:UserWarning")
async def test_a_reply_that_did_not_end_by_itself_is_voided_and_its_cause_is_told_in_the_language_of_the_question(
    world: GeminiWorld, finish: str, cause: ExitCause, attempts: int, pieces: tuple[str, ...]
) -> None:
    world.gemini.then(*[says(*pieces, finish=finish)] * attempts)
    events = await world.service.ask("Wie hoch ist die Haftungsobergrenze?", world.matter_id)
    final, semantics = final_of(events), CAUSE_SEMANTICS[cause]
    assert (reason_of(final), cause_of(final)) == unusable(cause)
    assert chat_pb2.Retryable.Name(final.retryable) == f"RETRYABLE_{semantics.retryable.name}"
    assert (final.display_message, final.message) == (True, semantics.text("de"))
    assert text_of(events) == ""
    assert not world.gemini.left


@pytest.mark.parametrize("finish", ["STOP", "UNEXPECTED_TOOL_CALL", "MALFORMED_FUNCTION_CALL"])
async def test_a_model_that_calls_tools_for_ever_ends_at_the_limit_of_tool_calls(
    world: GeminiWorld, finish: str
) -> None:
    listing = ("list_matter_documents", dict[str, Any]())
    beyond = calls(listing) if finish == "STOP" else says(finish=finish)
    world.gemini.then(*[calls(listing)] * 4, beyond, beyond)
    final = final_of(await world.service.ask("Which documents are there?", world.matter_id))
    assert (reason_of(final), cause_of(final), final.tool_calls) == (ExitReason.MAX_TOOL_CALLS_REACHED, None, 3)
    assert final.message == EXIT_SEMANTICS[ExitReason.MAX_TOOL_CALLS_REACHED].message
    assert chat_pb2.Retryable.Name(final.retryable) == "RETRYABLE_YES"


async def test_the_answer_step_declares_the_tools_and_switches_calling_off(world: GeminiWorld) -> None:
    listing = ("list_matter_documents", dict[str, Any]())
    world.gemini.then(calls(*[listing] * 4), says("There is one document."))
    final = final_of(await world.service.ask("Which documents are there?", world.matter_id))
    assert (reason_of(final), final.message) == (ExitReason.MAX_TOOL_CALLS_REACHED, "There is one document.")
    first, last = world.gemini.asked
    assert first.tool_config is None
    assert last.tool_names == first.tool_names
    assert last.tool_config is not None
    assert last.tool_config.function_calling_config is not None
    assert last.tool_config.function_calling_config.mode == "NONE"


async def test_the_client_does_not_go_on_by_itself_where_google_offers_it(world: GeminiWorld) -> None:
    offer = chunk({"text": "Hel"})
    offer["candidates"][0]["continuationToken"] = "dG9rZW4="
    world.gemini.then(*[Streamed([offer], Ending.CUT)] * 3)
    final = final_of(await world.service.ask("Hello", world.matter_id))
    assert world.gemini.attempts == final.usage.model_calls == 3


async def test_tokens_of_failed_calls_are_counted(world: GeminiWorld) -> None:
    world.gemini.then(cut("Hel"), cut("Hello"), FINE)
    usage = final_of(await world.service.ask("Hello", world.matter_id)).usage
    assert (usage.input_tokens, usage.output_tokens, usage.model_calls) == (300, 4, 3)


async def test_the_wait_that_google_asks_for_is_kept(world: GeminiWorld) -> None:
    world.gemini.then(refuses(429, "RESOURCE_EXHAUSTED", retry_info("0.3s")), FINE)
    started = time.monotonic()
    final = final_of(await world.service.ask("Hello", world.matter_id))
    assert reason_of(final) is ExitReason.COMPLETED
    assert time.monotonic() - started >= 0.3


async def test_a_wait_beyond_the_turns_end_is_told_instead(world: GeminiWorld) -> None:
    world.gemini.then(refuses(429, "RESOURCE_EXHAUSTED", retry_info("3600s")))
    final = final_of(await world.service.ask("Hello", world.matter_id))
    assert reason_of(final) is ExitReason.RATE_LIMITED
    assert (final.retry_after.seconds, world.gemini.attempts) == (3600, 1)


async def test_neither_key_nor_content_comes_into_logs_or_events(
    world: GeminiWorld, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    echo = f"The key {KEY} may not ask about Quixote"
    faults: list[Reply] = [
        refuses(400, "INVALID_ARGUMENT", error_info("API_KEY_INVALID"), message=echo),
        refuses(403, "PERMISSION_DENIED", error_info(echo), message=echo),
        Refused(400, echo.encode(), {"content-type": "text/plain"}),
        breaks_with(400, echo, "Hel"),
    ]
    with capture_logs() as entries:
        for fault in faults:
            world.gemini.then(fault)
            events = await world.service.ask("Is Quixote liable?", world.matter_id)
            assert reason_of(final_of(events)) is ExitReason.LLM_ERROR
            assert KEY not in str(events)
    failures = [entry["exc_info"] for entry in entries if entry["event"] == "model_call_failed"]
    told = "".join(line for failure in failures for line in traceback.format_exception(failure))
    assert len(failures) == len(faults)
    assert "check GOOGLE_API_KEY" in told
    logged = "".join([told, caplog.text, *(str(record.__dict__) for record in caplog.records), *map(str, entries)])
    assert KEY not in logged
    assert "Quixote" not in logged


async def test_a_server_that_is_not_there_is_an_error_of_the_model(tmp_path: Path, models_dir: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
    async with running_service(tmp_path / "data", models_dir, **settings(address)) as service:
        final = final_of(await service.ask("Hello", await service.create_matter()))
    assert reason_of(final) is ExitReason.LLM_ERROR
    assert final.usage.model_calls == 3


async def test_a_model_that_is_slow_for_ever_ends_with_the_turns_time(tmp_path: Path, models_dir: Path) -> None:
    async with gemini_server() as gemini:
        chosen = settings(gemini.base_url, turns={"time_limit_s": 2, "cache_ttl_s": 0}, chat_model={})
        gemini.then(cut("Well, ", ending=Ending.STALLS))
        async with running_service(tmp_path / "data", models_dir, **chosen) as service:
            events = await service.ask("Hello", await service.create_matter(), options=RAW)
    final = final_of(events)
    assert reason_of(final) is ExitReason.DEADLINE_EXCEEDED
    assert discarded(events) == ["NOT_FINAL"]
    assert (final.usage.input_tokens, final.usage.output_tokens, final.usage.model_calls) == (100, 1, 1)
