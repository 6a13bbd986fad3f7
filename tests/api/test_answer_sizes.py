"""Whatever a turn holds, its final state and its messages fit into one message of gRPC."""

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from proviso_client.v1 import chat_pb2 as pb
from proviso_service.api.convert.events import agent_event, final_state
from proviso_service.api.convert.sessions import chat_message
from proviso_service.api.convert.values import MAX_ANSWER_BYTES
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
from proviso_service.turns import (
    MAX_ANSWER_CHARS,
    REST_LEFT_OUT,
    ChatMessage,
    Citation,
    ExitReason,
    FinalState,
    HistoryMessage,
    LoggedEvent,
    MessageRole,
    ModelCallUsage,
    Retryable,
    ToolCallRecord,
    TurnStart,
    TurnSummary,
    Usage,
)

NOW = datetime(2026, 1, 2, tzinfo=UTC)
LETTERS = st.sampled_from("x§💼")


@st.composite
def request_contexts(draw: st.DrawFn) -> RequestContext:
    name = draw(LETTERS) * 128
    ref = ItemRef(ItemType.TOOL, name, name)
    item = RequestItem(ref, IncludeMode.AGENT, 0.5, "ab" * 32, note=name)
    asset = AssetUse(AssetKind.DOCUMENT, name, included=True, text=draw(LETTERS) * draw(st.sampled_from([10, 3_000])))
    counts = st.sampled_from([0, 3, 2_000])
    return RequestContext(
        items=(item,) * draw(counts),
        omitted=(OmittedItem(ref, OmissionReason.BUDGET, 0.4),) * draw(counts),
        matter_context=MatterContext("m1", name, "d1", name),
        assets=(asset,) * draw(st.sampled_from([0, 25, 200])),
        fill=ContextFill(10, 12_000),
        timestamp=NOW,
    )


@st.composite
def summaries(draw: st.DrawFn) -> TurnSummary:
    letter = draw(LETTERS)
    record = ToolCallRecord("c1", "search", "proviso", letter * 4_000, NOW, 0.5, letter * 1_000)
    calls = (ModelCallUsage("m" * 128, 1, 2, 3, 0.5),) * draw(st.sampled_from([0, 7, 3_000]))
    return TurnSummary(ExitReason.COMPLETED, (record,) * draw(st.sampled_from([0, 3, 150])), Usage(calls=calls))


@st.composite
def texts(draw: st.DrawFn) -> str:
    return draw(LETTERS) * draw(st.sampled_from([0, 5, 32_000, MAX_ANSWER_CHARS, 800_000]))


@st.composite
def messages(draw: st.DrawFn) -> ChatMessage:
    role = draw(st.sampled_from(MessageRole))
    return ChatMessage(role, draw(texts()), draw(request_contexts()), "t1", "m1", NOW, draw(summaries()))


@st.composite
def final_states(draw: st.DrawFn) -> FinalState:
    summary, letter = draw(summaries()), draw(LETTERS)
    quote = letter * draw(st.sampled_from([20, 4_000]))
    citation = Citation(1, 0, 1, "d1", letter * 255, 10, 20, 3, letter * 500, quote)
    own = ChatMessage(MessageRole.ASSISTANT, draw(texts()), draw(request_contexts()), "t1")
    earlier = HistoryMessage(MessageRole.USER, letter * draw(st.sampled_from([5, 32_000])))
    return FinalState(
        ExitReason.COMPLETED,
        Retryable.NOT_APPLICABLE,
        display_message=True,
        message=own.content,
        messages=(own,),
        request_context=own.request_context,
        citations=(citation,) * draw(st.sampled_from([0, 5, 300])),
        usage=summary.usage,
        tool_call_records=summary.tool_calls,
        history=(earlier,) * draw(st.sampled_from([0, 4, 100])),
    )


@settings(max_examples=20, deadline=None)
@given(final_states())
def test_every_final_state_fits_and_says_what_it_leaves_out(state: FinalState) -> None:
    answer = final_state(state)
    assert answer.ByteSize() <= MAX_ANSWER_BYTES
    cut = len(state.message) > MAX_ANSWER_CHARS + max(map(len, REST_LEFT_OUT.values()))
    assert answer.message_truncated is cut
    assert answer.message == (state.message[:MAX_ANSWER_CHARS] + REST_LEFT_OUT["en"] if cut else state.message)
    given = ((*state.history, *state.messages), state.citations, state.tool_call_records, state.usage.calls)
    told = (answer.messages, answer.citations, answer.tool_call_records, answer.usage.calls)
    contexts = (state.request_context.items, state.request_context.omitted) if state.request_context else ()
    counts = [len(part) for part in (*given, *contexts)]
    kept = [len(part) for part in (*told, answer.request_context.items, answer.request_context.omitted)]
    assert answer.truncated or counts == kept


@settings(max_examples=20, deadline=None)
@given(messages())
def test_every_stored_message_fits(message: ChatMessage) -> None:
    answer = chat_message(message)
    assert answer.ByteSize() <= MAX_ANSWER_BYTES
    cut = len(message.content) > MAX_ANSWER_CHARS + max(map(len, REST_LEFT_OUT.values()))
    assert answer.content == (message.content[:MAX_ANSWER_CHARS] + REST_LEFT_OUT["en"] if cut else message.content)


@settings(max_examples=10, deadline=None)
@given(request_contexts())
def test_every_first_event_fits(context: RequestContext) -> None:
    event: pb.AgentEvent = agent_event("t1", LoggedEvent(1, 1, 0.0, TurnStart(context, "s1", "local")))
    assert event.ByteSize() <= MAX_ANSWER_BYTES
