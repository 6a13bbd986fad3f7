"""The spans of a whole turn, as their collector receives them: the service runs between Gemini, Isaacus and an OTLP
receiver, all on loopback."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from proviso_client.v1 import chat_pb2
from tests.support import gemini_server as gemini_stand_in
from tests.support import isaacus_server as isaacus_stand_in
from tests.support.catalogs import write
from tests.support.gemini_replies import MODEL, calls, refuses, says
from tests.support.gemini_server import GeminiServer, gemini_server
from tests.support.isaacus_server import IsaacusServer, isaacus_server, problem
from tests.support.otlp_receiver import OtlpReceiver, Tree, attributes_of, otlp_receiver, tree_of
from tests.support.running import AGREEMENT, RunningService, chat_request, final_of, running_service

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
CALLER_SPAN_ID = "b7ad6b7169203331"
TRACEPARENT = ("traceparent", f"00-{TRACE_ID}-{CALLER_SPAN_ID}-01")
METADATA = (TRACEPARENT, ("tracestate", "vendor=abc"), ("baggage", "person=swordfish"))

QUESTION = "Which law governs? The settlement is swordfish."
ANSWER = "It is governed by “the laws of the State of Oregon” [1]."
CONFIDENTIAL = (
    "swordfish", "ada@example.com", "governing law", "State of Oregon", "governed by", "Services Agreement", "USD",
    gemini_stand_in.KEY, isaacus_stand_in.KEY,
)  # fmt: skip
"""Of the question, the person, the session, the model's arguments, the documents, the answer, and the keys."""


@dataclass(frozen=True)
class World:
    gemini: GeminiServer
    isaacus: IsaacusServer
    receiver: OtlpReceiver
    service: RunningService
    matter_id: str

    async def ask(self, **fields: Any) -> list[chat_pb2.AgentEvent]:
        """All events of a chat that is called inside the caller's trace."""
        fields = {"user_id": "", "session_id": "swordfish-1"} | fields
        request = chat_request(QUESTION, self.matter_id, **fields)
        return [event async for event in self.service.chat.Chat(request, metadata=METADATA)]

    def asked_isaacus(self) -> list[isaacus_stand_in.Asked]:
        """The requests to Isaacus that belong to the trace of the caller, not those of ingestion."""
        return [asked for asked in self.isaacus.asked if asked.headers.get("traceparent", "")[3:35] == TRACE_ID]


@asynccontextmanager
async def traced_world(folder: Path, **files: str) -> AsyncIterator[World]:
    """A service with an agent of these files, whose spans are received. Stopping it at the end sends the last spans."""
    with otlp_receiver() as receiver:
        async with gemini_server() as gemini, isaacus_server() as isaacus:
            values: dict[str, Any] = {
                "llm": f"google_genai:{MODEL}",
                "GOOGLE_API_KEY": gemini_stand_in.KEY,
                "GOOGLE_GEMINI_BASE_URL": gemini.base_url,
                "ISAACUS_API_KEY": isaacus_stand_in.KEY,
                "ISAACUS_BASE_URL": isaacus.base_url,
                "models": {"embedder": "isaacus"},
                "isaacus": {"dimensions": 64, "retry_base_s": 0.001, "retry_max_s": 0.002},
                "turns": {"retry_base_s": 0.001, "retry_max_s": 0.002},
                "telemetry": {"otlp_endpoint": receiver.endpoint},
                "agent_dir": write(folder / "agent", **files),
            }
            async with running_service(folder / "data", folder / "nothing", **values) as service:
                matter_id = await service.create_matter(Services_Agreement=AGREEMENT)
                yield World(gemini, isaacus, receiver, service, matter_id)


def answers_after_a_search(gemini: GeminiServer) -> None:
    """The replies of a model that searches and then answers; its first attempt fails."""
    gemini.then(
        refuses(503, "UNAVAILABLE", message="swordfish"),
        calls(("isaacus_search", {"query": "governing law"})),
        says("It is governed by ", "“the laws of the State of Oregon” [1]."),
    )


def only(spans: list[Span], name: str) -> Span:
    (span,) = (span for span in spans if span.name == name)
    return span


def named(spans: list[Span], name: str) -> list[Span]:
    return [span for span in spans if span.name == name]


async def test_a_turn_is_a_tree_of_spans_from_the_caller_down(tmp_path: Path) -> None:
    async with traced_world(tmp_path) as world:
        answers_after_a_search(world.gemini)
        world.isaacus.then(problem(503, "Overloaded", "swordfish"))  # the embedding of the query
        final = final_of(await world.ask())
        assert final.message == ANSWER
    spans = world.receiver.spans(TRACE_ID)
    search: Tree = [("POST /embeddings", []), ("POST /embeddings", []), ("POST /rerankings", [])]
    assert world.receiver.services == {"proviso"}
    assert tree_of(spans, bytes.fromhex(CALLER_SPAN_ID)) == [
        ("proviso.v1.ChatService/Chat", [
            ("invoke_agent proviso", [
                (f"chat {MODEL}", [("attempt", []), ("attempt", [])]),
                ("execute_tool isaacus_search", [("attempt", [("retrieval matter", search)])]),
                (f"chat {MODEL}", [("attempt", [])]),
            ]),
        ]),
    ]  # fmt: skip


async def test_the_choice_of_the_agents_items_is_a_retrieval(tmp_path: Path) -> None:
    rule = "---\nname: Swordfish\ndescription: About law.\ninclude: agent\n---\nSay which law.\n"
    async with traced_world(tmp_path, rules__law_md=rule) as world:
        world.gemini.then(says("What do you mean?"))
        await world.ask()
    spans = world.receiver.spans(TRACE_ID)
    [(_, [(_, [chosen, *_])])] = tree_of(spans, bytes.fromhex(CALLER_SPAN_ID))
    assert chosen == ("retrieval catalog", [("POST /embeddings", [])])
    retrieval = attributes_of(only(spans, "retrieval catalog"))
    assert retrieval == {"gen_ai.operation.name": "retrieval", "gen_ai.data_source.id": "catalog"}
    assert b"wordfish" not in b"".join(span.SerializeToString() for span in spans)


async def test_spans_say_what_the_conventions_ask_for_and_no_contents(tmp_path: Path) -> None:
    async with traced_world(tmp_path) as world:
        answers_after_a_search(world.gemini)
        world.isaacus.then(problem(503, "Overloaded", "swordfish"))
        events = await world.ask(user_id="ada@example.com")
        call_id = next(e.tool_start.call_id for e in events if e.WhichOneof("event") == "tool_start")
    spans = world.receiver.spans(TRACE_ID)
    call = only(spans, "proviso.v1.ChatService/Chat")
    assert call.kind == Span.SPAN_KIND_SERVER
    assert attributes_of(call).items() >= {
        "rpc.system.name": "grpc", "rpc.method": "proviso.v1.ChatService/Chat", "rpc.response.status_code": "OK",
        "server.address": "127.0.0.1",
    }.items()  # fmt: skip
    assert attributes_of(only(spans, "invoke_agent proviso")) == {
        "gen_ai.operation.name": "invoke_agent", "gen_ai.provider.name": "proviso", "gen_ai.agent.name": "proviso",
        "gen_ai.usage.input_tokens": 200, "gen_ai.usage.output_tokens": 12,
        "proviso.turn_id": events[0].turn_id, "proviso.exit_reason": "completed", "proviso.cycles": 2,
        "proviso.tool_calls": 1,
    }  # fmt: skip
    first, second = named(spans, f"chat {MODEL}")
    assert {first.kind, second.kind} == {Span.SPAN_KIND_CLIENT}
    asked = {
        "gen_ai.operation.name": "chat", "gen_ai.provider.name": "gcp.gemini", "gen_ai.request.model": MODEL,
        "gen_ai.request.stream": True, "gen_ai.response.finish_reasons": ["STOP"],
    }  # fmt: skip
    assert attributes_of(first) == asked | {"gen_ai.usage.input_tokens": 100, "gen_ai.usage.output_tokens": 10}
    assert attributes_of(second) == asked | {"gen_ai.usage.input_tokens": 100, "gen_ai.usage.output_tokens": 2}
    assert attributes_of(only(spans, "execute_tool isaacus_search")) == {
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "isaacus_search",
        "gen_ai.tool.type": "function", "gen_ai.tool.call.id": call_id,
    }  # fmt: skip
    assert attributes_of(only(spans, "retrieval matter")) == {
        "gen_ai.operation.name": "retrieval", "gen_ai.data_source.id": "matter", "proviso.retrieval.results": 2,
    }  # fmt: skip
    assert [word for word in CONFIDENTIAL if word.encode() in world.receiver.wire] == []


async def test_what_was_kept_is_told_from_what_was_done(tmp_path: Path) -> None:
    """The same question is asked twice, without a session."""
    async with traced_world(tmp_path) as world:
        world.gemini.then(calls(("isaacus_search", {"query": "governing law"})), says(ANSWER, cached=60))
        for _ in range(2):
            final = final_of(await world.ask(session_id=""))
        assert (final.message, final.from_cache) == (ANSWER, True)
    spans = world.receiver.spans(TRACE_ID)
    first, second = named(spans, "invoke_agent proviso")
    assert [(name, bool(below)) for name, below in tree_of(spans, first.span_id)] == [
        (f"chat {MODEL}", True), ("execute_tool isaacus_search", True), (f"chat {MODEL}", True),
    ]  # fmt: skip
    assert tree_of(spans, second.span_id) == [
        (f"chat {MODEL}", []), ("execute_tool isaacus_search", []), (f"chat {MODEL}", []),
    ]  # fmt: skip
    steps = [span for span in spans if span.parent_span_id in (first.span_id, second.span_id)]
    assert [attributes_of(span).get("proviso.from_cache") for span in steps] == [None] * 3 + [True] * 3
    using = [first, second, *named(spans, f"chat {MODEL}")]
    cached = [attributes_of(span).get("gen_ai.usage.cache_read.input_tokens") for span in using]
    assert cached == [60, None, None, 60, None, None]


async def test_attempts_that_failed_say_how_and_those_around_them_do_not(tmp_path: Path) -> None:
    async with traced_world(tmp_path) as world:
        answers_after_a_search(world.gemini)
        world.isaacus.then(problem(503, "Overloaded", "swordfish"))
        await world.ask()
    spans = world.receiver.spans(TRACE_ID)
    (failed,) = (s for s in named(spans, "attempt") if "error.type" in attributes_of(s))
    assert attributes_of(failed) == {"proviso.attempt": 1, "error.type": "503"}
    refused, sent_again = named(spans, "POST /embeddings")
    request = {
        "http.request.method": "POST", "url.full": f"{world.isaacus.base_url}/embeddings",
        "server.address": "127.0.0.1", "server.port": world.isaacus.port,
    }  # fmt: skip
    assert attributes_of(refused) == request | {"http.response.status_code": 503, "error.type": "503"}
    assert attributes_of(sent_again) == request | {"http.response.status_code": 200, "http.request.resend_count": 1}
    faults = [span for span in spans if span.status.code == Status.STATUS_CODE_ERROR]
    assert [span.span_id for span in faults] == [failed.span_id, refused.span_id]
    assert {span.status.message for span in spans} == {""}
    assert not any(span.events for span in spans)


async def test_the_trace_goes_on_to_gemini_and_isaacus_and_baggage_does_not(tmp_path: Path) -> None:
    async with traced_world(tmp_path) as world:
        answers_after_a_search(world.gemini)
        await world.ask()
        asked_isaacus = world.asked_isaacus()
    spans = world.receiver.spans(TRACE_ID)
    attempts = [s for s in named(spans, "attempt") if s.kind == Span.SPAN_KIND_CLIENT]
    posts = [s for s in spans if s.name.startswith("POST ")]
    sent = [*world.gemini.headers, *(asked.headers for asked in asked_isaacus)]
    assert [headers["traceparent"] for headers in sent] == [
        f"00-{TRACE_ID}-{span.span_id.hex()}-01" for span in [*attempts, *posts]
    ]
    assert {headers["tracestate"] for headers in sent} == {"vendor=abc"}
    assert not any("baggage" in headers for headers in sent)


async def test_calls_that_follow_a_turn_are_linked_to_it(tmp_path: Path) -> None:
    async with traced_world(tmp_path) as world:
        world.gemini.then(says("Hello."))
        events = await world.ask(request_id="once")
        again = await world.ask(request_id="once")
        resume = chat_pb2.ResumeChatRequest(turn_id=events[0].turn_id, after_sequence=1)
        rest = [event async for event in world.service.chat.ResumeChat(resume)]
        assert again == events
        assert rest == events[1:]
    spans = world.receiver.spans()
    turn = only(spans, "invoke_agent proviso")
    first, repeated = named(spans, "proviso.v1.ChatService/Chat")
    resumed = only(spans, "proviso.v1.ChatService/ResumeChat")
    assert turn.parent_span_id == first.span_id
    assert resumed.trace_id != turn.trace_id
    assert [[link.span_id for link in call.links] for call in (first, repeated, resumed)] == [
        [], [turn.span_id], [turn.span_id],
    ]  # fmt: skip


@pytest.mark.parametrize("endpoint", ["", "http://127.0.0.1:9"])
async def test_nothing_is_passed_on_without_traces_and_a_missing_collector_disturbs_nothing(
    tmp_path: Path, endpoint: str
) -> None:
    async with gemini_server() as gemini:
        values: dict[str, Any] = {
            "llm": f"google_genai:{MODEL}", "GOOGLE_API_KEY": gemini_stand_in.KEY,
            "GOOGLE_GEMINI_BASE_URL": gemini.base_url, "ISAACUS_API_KEY": isaacus_stand_in.KEY,
            "models": {"embedder": "isaacus"}, "telemetry": {"otlp_endpoint": endpoint},
        }  # fmt: skip
        async with running_service(tmp_path / "data", tmp_path / "nothing", **values) as service:
            gemini.then(says("Hello."))
            request = chat_request("Hello", await service.create_matter())
            events = [event async for event in service.chat.Chat(request, metadata=METADATA)]
            assert final_of(events).message == "Hello."
        assert ("traceparent" in gemini.headers[0]) == bool(endpoint)
