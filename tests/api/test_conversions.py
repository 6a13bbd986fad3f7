"""Domain values and their messages."""

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from enum import Enum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_client.v1 import chat_pb2, context_pb2, matters_pb2, sessions_pb2, tools_pb2, turns_pb2
from proviso_client.v1 import chat_pb2 as pb
from proviso_service.api.convert import values
from proviso_service.api.convert.context import request_context
from proviso_service.api.convert.events import agent_event, final_state, shortened_state
from proviso_service.api.convert.matters import matter_documents
from proviso_service.api.convert.search import label, search_response
from proviso_service.api.convert.values import MAX_ANSWER_BYTES, duration, timestamp, unix_timestamp
from proviso_service.context.model import (
    AssetKind,
    AssetUse,
    ContextFill,
    IncludeMode,
    ItemRef,
    ItemType,
    MatterContext,
    OmissionReason,
    OmittedItem,
    RequestContext,
    RequestItem,
)
from proviso_service.matters.model import (
    Document,
    DocumentHits,
    DocumentStatus,
    FoundSize,
    SearchHit,
    SearchOutcome,
    SearchQuery,
    Snippet,
    StoredChunk,
)
from proviso_service.paging import Page
from proviso_service.reading.model import Chunk, Span
from proviso_service.turns import (
    ApprovalRequired,
    ChatMessage,
    Citation,
    ContextProblem,
    DiscardReason,
    ExitReason,
    FinalState,
    Heartbeat,
    LoggedEvent,
    MessageRole,
    ModelCallUsage,
    Retryable,
    TextDiscarded,
    Token,
    ToolStart,
    Usage,
)
from tests.turns.scripted import TOOL_END, TURN_START, completed

NOW = datetime(2026, 1, 2, 3, 4, 5, 678_901, tzinfo=UTC)
TABLES: list[tuple[Mapping[Any, int], Any]] = [
    (values.EXIT_REASONS, turns_pb2.ExitReason),
    (values.RETRYABLE, chat_pb2.Retryable),
    (values.CONTEXT_PROBLEMS, chat_pb2.ContextProblem),
    (values.DISCARD_REASONS, chat_pb2.DiscardReason),
    (values.ON_DISCONNECT, chat_pb2.OnDisconnect),
    (values.TURN_STATES, chat_pb2.TurnState),
    (values.ITEM_TYPES, context_pb2.ContextItemType),
    (values.INCLUDE_MODES, context_pb2.IncludeMode),
    (values.OMISSION_REASONS, context_pb2.OmissionReason),
    (values.ASSET_KINDS, context_pb2.AssetKind),
    (values.MESSAGE_ROLES, sessions_pb2.MessageRole),
    (values.DOCUMENT_STATUSES, matters_pb2.DocumentStatus),
]


@pytest.mark.parametrize(("table", "proto"), TABLES, ids=lambda v: getattr(getattr(v, "DESCRIPTOR", v), "name", ""))
def test_each_member_of_an_enum_is_the_proto_value_of_its_name(table: Mapping[Enum, int], proto: Any) -> None:
    members = set(type(next(iter(table))))
    assert table.keys() == members
    values = dict(proto.items())
    prefix = next(name for name, number in values.items() if number == 0).removesuffix("UNSPECIFIED")
    assert {prefix + member.name: number for member, number in table.items()} | {f"{prefix}UNSPECIFIED": 0} == values


def test_an_enum_without_a_counterpart_is_noticed() -> None:
    class Colour(Enum):
        RED = "red"

    with pytest.raises(ValueError, match="RED"):
        values.table(Colour, turns_pb2.ExitReason)


@given(st.floats(min_value=0, max_value=4e9))
def test_times_keep_their_microseconds(time_s: float) -> None:
    for value in (unix_timestamp(time_s), duration(time_s)):
        assert 0 <= value.nanos < 1_000_000_000
        assert math.isclose(value.seconds + value.nanos / 1e9, time_s, abs_tol=1e-6)


def test_moments_are_exact() -> None:
    assert timestamp(NOW).ToDatetime(UTC) == NOW
    assert unix_timestamp(NOW.timestamp()).ToDatetime(UTC) == NOW


def logged(event: Any, first: int = 3, last: int = 3) -> pb.AgentEvent:
    return agent_event("turn-1", LoggedEvent(first, last, NOW.timestamp(), event))


def test_every_event_says_its_turn_sequence_and_time() -> None:
    event = logged(Token("t1", "Thirty"), 3, 7)
    assert (event.turn_id, event.sequence, event.emit_time.ToDatetime(UTC)) == ("turn-1", 7, NOW)
    assert (event.token.text_id, event.token.text, event.token.first_sequence) == ("t1", "Thirty", 3)


def test_a_heartbeat_has_no_sequence() -> None:
    event = agent_event("turn-1", Heartbeat(NOW.timestamp()))
    assert (event.WhichOneof("event"), event.sequence, event.emit_time.ToDatetime(UTC)) == ("heartbeat", 0, NOW)


def test_each_kind_of_event_keeps_its_fields() -> None:
    assert logged(TURN_START).turn_start.model == "local"
    discarded = logged(TextDiscarded("t1", DiscardReason.GROUNDING)).text_discarded
    assert (discarded.text_id, discarded.reason) == ("t1", pb.DISCARD_REASON_GROUNDING)
    called = logged(ToolStart("c1", "isaacus_search", "proviso", "{}")).tool_start
    assert (called.call_id, called.tool, called.server_name, called.input_json) == (
        "c1", "isaacus_search", "proviso", "{}",
    )  # fmt: skip
    returned = logged(replace(TOOL_END, duration_s=1.5, truncated=True, from_cache=True, error="no")).tool_end
    assert (returned.output, returned.output_json, returned.error) == ("one match", "{}", "no")
    assert (returned.truncated, returned.from_cache, returned.duration.ToSeconds()) == (True, True, 1)
    approval = logged(ApprovalRequired("c1", "send", "mail", "{}", NOW)).approval_required
    assert (approval.tool, approval.server_name, approval.expire_time.ToDatetime(UTC)) == ("send", "mail", NOW)
    assert logged(completed("Yes.").final_state).final_state.message == "Yes."


def test_a_citation_keeps_its_offsets_and_links_to_its_text() -> None:
    cited = logged(Citation(1, 2, 5, "d1", "a.md", 10, 20, 3, "Fees", "USD 12,000")).citation
    assert (cited.number, cited.answer_start, cited.answer_end) == (1, 2, 5)
    assert (cited.document_id, cited.filename, cited.start, cited.end) == ("d1", "a.md", 10, 20)
    assert (cited.page, cited.heading, cited.quote) == (3, "Fees", "USD 12,000")
    assert cited.permalink == "cite:d1@10-20"


CONTEXT = RequestContext(
    items=(RequestItem(ItemRef(ItemType.RULE, "tone"), IncludeMode.AGENT, 0.0, "ab", missing=True),),
    omitted=(OmittedItem(ItemRef(ItemType.REFERENCE, "style"), OmissionReason.BUDGET, 0.4),),
    matter_context=MatterContext("m1", "Smith", "d1", "a.md"),
    assets=(AssetUse(AssetKind.IMAGE, "https://x/a.png", included=False, note="not fetched"),),
    fill=ContextFill(10, 12_000, tokens_used=0),
    timestamp=NOW,
    payload_sha256="cd",
)


def test_a_request_context_keeps_what_is_set_and_only_that() -> None:
    context = request_context(CONTEXT)
    assert context is not None
    (item,), (omitted,), (asset,) = context.items, context.omitted, context.assets
    assert (item.type, item.name, item.include_mode) == (1, "tone", context_pb2.INCLUDE_MODE_AGENT)
    assert (item.HasField("similarity_score"), item.missing, item.content_sha256) == (True, True, "ab")
    assert (omitted.item.name, omitted.reason, omitted.score) == ("style", context_pb2.OMISSION_REASON_BUDGET, 0.4)
    assert (asset.kind, asset.included, asset.note) == (context_pb2.ASSET_KIND_IMAGE, False, "not fetched")
    assert (context.fill.HasField("tokens_used"), context.fill.HasField("tokens_limit")) == (True, False)
    assert context.matter_context.document_name == "a.md"
    assert (context.timestamp.ToDatetime(UTC), context.payload_sha256) == (NOW, "cd")
    without = request_context(replace(CONTEXT, matter_context=None))
    assert without is not None
    assert not without.HasField("matter_context")
    assert request_context(None) is None


def test_a_final_state_keeps_its_fields() -> None:
    state = final_state(
        FinalState(
            ExitReason.RATE_LIMITED,
            Retryable.YES,
            display_message=True,
            message="Later.",
            messages=(ChatMessage(MessageRole.ASSISTANT, "Later.", CONTEXT, "turn-1", "m1", NOW),),
            request_context=CONTEXT,
            citations=(Citation(1, 0, 1, "d1", "a.md", 0, 1, 0, "", "x"),),
            usage=Usage(1, 2, 3, 4, (ModelCallUsage("m", 1, 2, 4, 0.5, from_cache=True, failed=True),)),
            cycles=4,
            tool_calls=5,
            from_cache=True,
            retry_after_s=2.5,
            context_problem=ContextProblem.MATTER_REQUIRED,
            duration_s=0.25,
        )
    )
    assert (state.exit_reason, state.retryable) == (turns_pb2.EXIT_REASON_RATE_LIMITED, pb.RETRYABLE_YES)
    assert (state.display_message, state.message, state.from_cache, state.truncated) == (True, "Later.", True, False)
    assert (state.usage.input_tokens, state.usage.output_tokens, state.usage.model_calls) == (1, 2, 3)
    (call,) = state.usage.calls
    assert (call.model, call.input_tokens, call.output_tokens, call.duration.ToMilliseconds()) == ("m", 1, 2, 500)
    assert (call.cached_input_tokens, state.usage.cached_input_tokens) == (4, 4)
    assert (call.from_cache, call.failed) == (True, True)
    assert state.duration.ToMilliseconds() == 250
    assert (state.cycles, state.tool_calls, state.retry_after.ToMilliseconds()) == (4, 5, 2500)
    assert state.context_problem == pb.CONTEXT_PROBLEM_MATTER_REQUIRED
    (message,) = state.messages
    assert (message.role, message.turn_id, message.message_id) == (sessions_pb2.MESSAGE_ROLE_ASSISTANT, "turn-1", "m1")
    assert message.request_context == state.request_context == request_context(CONTEXT)
    assert state.citations[0].permalink == "cite:d1@0-1"


def test_an_unknown_time_is_absent() -> None:
    state = final_state(replace(completed().final_state, duration_s=None))
    assert (state.HasField("retry_after"), state.HasField("duration")) == (False, False)


def test_a_final_state_too_large_loses_its_oldest_messages() -> None:
    messages = tuple(ChatMessage(MessageRole.USER, f"{i} {'x' * 32_000}") for i in range(200))
    state = final_state(replace(completed("Yes.").final_state, messages=messages))
    assert MAX_ANSWER_BYTES - 40_000 < state.ByteSize() <= MAX_ANSWER_BYTES
    assert state.truncated
    kept = [message.content for message in state.messages]
    assert kept == [message.content for message in messages[-len(kept) :]]


def test_a_reader_may_do_without_the_history_or_its_contexts() -> None:
    told = ChatMessage(MessageRole.ASSISTANT, "Yes.", CONTEXT)
    messages = (ChatMessage(MessageRole.USER, "May I?"), told)
    state = replace(completed("Yes.").final_state, messages=messages, request_context=CONTEXT)
    whole = final_state(state)
    assert whole.messages[1].HasField("request_context")
    brief = shortened_state(final_state(state), pb.LeaveOut(repeated_contexts=True))
    assert [(m.content, m.HasField("request_context")) for m in brief.messages] == [("May I?", False), ("Yes.", False)]
    assert brief.request_context == whole.request_context
    none = shortened_state(final_state(state), pb.LeaveOut(history=True))
    assert (len(none.messages), none.message) == (0, "Yes.")


def test_a_tool_result_too_large_goes_without_its_json() -> None:
    returned = logged(replace(TOOL_END, output_json="x" * 3_500_000)).tool_end
    assert (returned.output_json, returned.output, returned.truncated) == ("", "one match", True)


def document(number: int, status: DocumentStatus = DocumentStatus.READY) -> Document:
    name = f"{number:06} {'n' * 240}.MD"
    return Document(f"d{number}", "m1", "local", name, "text/markdown", 10, "00", status, NOW)


def test_a_page_of_documents_counts_all_of_them() -> None:
    documents = [document(i, list(DocumentStatus)[i % 4]) for i in range(12_000)]
    answer = matter_documents("m1", Page(documents[:2], "next", len(documents)), documents)
    assert (answer.next_page_token, answer.total_size) == ("next", 12_000)
    assert (answer.summary.ready_for_search, answer.summary.still_processing, answer.summary.failed) == (
        3_000, 6_000, 3_000,
    )  # fmt: skip
    assert [d.document_id for d in answer.documents] == ["d0", "d1"]


def test_a_listed_document_has_the_tools_names() -> None:
    answer = matter_documents("m1", Page([document(1)], "", 1), [document(1)])
    (listed,) = answer.documents
    assert (listed.file_type, listed.size_bytes, listed.status) == ("md", 10, matters_pb2.DOCUMENT_STATUS_READY)
    assert (listed.upload_time.ToDatetime(UTC), answer.next_page_token) == (NOW, "")


CHUNK = Chunk(0, 100, 110, "text", page=2, section_path=("Agreement", "9. Law"))
SNIPPET = Snippet("text", 100, (Span(0, 2), Span(3, 4)))
HIT = SearchHit(
    StoredChunk("c1", "d1", "a.md", CHUNK), 0.5, 0.9, lexical_match=True, snippet=SNIPPET, context_after="after"
)


def test_a_search_result_is_citable() -> None:
    hits = (DocumentHits("d1", "a.md", 4),)
    answer = search_response(SearchOutcome(SearchQuery("m1", "law"), (HIT,), hits, size=FoundSize(1)))
    (result,) = answer.results
    assert (answer.total_size, answer.query, answer.matter_id, answer.truncated) == (1, "law", "m1", False)
    assert (result.chunk_id, result.chunk_text, result.semantic_score, result.score) == ("c1", "text", 0.5, 0.9)
    assert (result.lexical_match, result.context_before, result.context_after) == (True, "", "after")
    assert not result.HasField("rerank_score")
    highlights = [tools_pb2.SnippetHighlight(start=start, end=end) for start, end in ((0, 2), (3, 4))]
    assert result.snippet == tools_pb2.SearchSnippet(text="text", start=100, highlights=highlights)
    assert result.citation == tools_pb2.SearchCitation(
        page=2,
        section_path=["Agreement", "9. Law"],
        heading="9. Law",
        label="a.md, page 2, 9. Law",
        permalink="cite:d1@100-110",
        start=100,
        end=110,
    )
    assert answer.documents_matching == [tools_pb2.DocumentHits(document_id="d1", filename="a.md", passages=4)]


def test_a_label_leaves_out_what_is_not_known() -> None:
    assert label("a.md", Chunk(0, 0, 1, "x")) == "a.md"


def test_a_search_too_large_keeps_its_results_longest() -> None:
    names = tuple(f"{i} {'n' * 250}" for i in range(15_000))
    outcome = SearchOutcome(SearchQuery("m1", "law"), (HIT,), documents_available=names)
    answer = search_response(outcome)
    assert answer.ByteSize() <= MAX_ANSWER_BYTES
    assert (len(answer.results), answer.truncated) == (1, True)
    assert 10_000 < len(answer.documents_available) < 15_000
