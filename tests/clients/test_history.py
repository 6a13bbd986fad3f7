"""Messages of a session as text and as JSON Lines."""

import json

from google.protobuf import duration_pb2, json_format, timestamp_pb2
from hypothesis import given
from hypothesis import strategies as st

from proviso_client.history import json_lines, message_text
from proviso_client.v1 import context_pb2, sessions_pb2, turns_pb2

CONTEXT = context_pb2.RequestContext(
    items=[
        context_pb2.RequestContextItem(
            type=context_pb2.CONTEXT_ITEM_TYPE_RULE, name="Plain", include_mode=context_pb2.INCLUDE_MODE_ALWAYS
        )
    ]
)
SEARCH = turns_pb2.ToolCallRecord(
    call_id="c-1",
    tool="isaacus_search",
    server_name="proviso",
    input_json='{"query": "law"}',
    duration=duration_pb2.Duration(nanos=60_000_000),
    from_cache=True,
)
DENIED = turns_pb2.ToolCallRecord(
    call_id="c-2", tool="now", server_name="time", error="not\napproved", decision=turns_pb2.TOOL_CALL_DECISION_DENY
)
TURN = turns_pb2.TurnSummary(
    exit_reason=turns_pb2.EXIT_REASON_COMPLETED,
    tool_calls=[SEARCH, DENIED],
    duration=duration_pb2.Duration(seconds=1, nanos=204_000_000),
    model="local",
)
ANSWER = sessions_pb2.ChatMessage(
    role=sessions_pb2.MESSAGE_ROLE_ASSISTANT,
    content="The law of\nOhio.",
    request_context=CONTEXT,
    create_time=timestamp_pb2.Timestamp(seconds=1_767_323_045),
    turn=TURN,
)


def test_an_answer_has_its_ending_its_tools_and_its_context() -> None:
    assert message_text(ANSWER).splitlines() == [
        "Assistant, 2026-01-02 03:04:05 UTC, COMPLETED, 1.20 s, local",
        "The law of",
        "Ohio.",
        "  proviso:isaacus_search  0.06 s, from cache",
        "  time:now  0.00 s, denied",
        "  1 rule (always)",
    ]


def test_an_answer_without_a_context_says_so() -> None:
    old = sessions_pb2.ChatMessage(role=sessions_pb2.MESSAGE_ROLE_ASSISTANT, content="Ohio.")
    assert message_text(old) == "Assistant\nOhio.\n  No context data available"


def test_a_question_has_neither() -> None:
    assert message_text(sessions_pb2.ChatMessage(role=sessions_pb2.MESSAGE_ROLE_USER, content="Hm?")) == "User\nHm?"


def test_a_failure_says_how_the_turn_ended() -> None:
    failed = sessions_pb2.ChatMessage(
        role=sessions_pb2.MESSAGE_ROLE_ERROR,
        content="Sorry.",
        turn=turns_pb2.TurnSummary(exit_reason=turns_pb2.EXIT_REASON_LLM_ERROR),
    )
    assert message_text(failed) == "Error, LLM_ERROR\nSorry."


def test_a_failure_names_its_exact_cause() -> None:
    failed = sessions_pb2.ChatMessage(
        role=sessions_pb2.MESSAGE_ROLE_ERROR,
        turn=turns_pb2.TurnSummary(
            exit_reason=turns_pb2.EXIT_REASON_LLM_GENERATION_FAILURE, exit_cause=turns_pb2.EXIT_CAUSE_BLOCKED
        ),
    )
    assert message_text(failed).startswith("Error, LLM_GENERATION_FAILURE (BLOCKED)")
    later = turns_pb2.TurnSummary.FromString(b"\x08\x63\x30\x62")
    assert message_text(sessions_pb2.ChatMessage(turn=later)).startswith("Unknown, 99 (98)")


def test_an_ending_that_this_contract_does_not_know_is_a_number() -> None:
    newer = turns_pb2.TurnSummary.FromString(b"\x08\x63")
    message = sessions_pb2.ChatMessage(role=sessions_pb2.MESSAGE_ROLE_ERROR, turn=newer)
    assert message_text(message).startswith("Error, 99")


def test_a_rating_is_the_last_line() -> None:
    rated = sessions_pb2.ChatMessage()
    rated.CopyFrom(ANSWER)
    rated.rating.rating = sessions_pb2.RATING_DOWN
    assert message_text(rated).splitlines()[-2:] == ["  1 rule (always)", "  rated down"]
    rated.rating.reason = sessions_pb2.RATING_REASON_WRONG_SOURCE
    rated.rating.text = "It is from\nthe draft."
    assert message_text(rated).splitlines()[-1] == "  rated down, wrong source: It is from the draft."


def test_json_has_the_names_of_the_contract_and_leaves_out_what_is_not_set() -> None:
    (line,) = json_lines([ANSWER])
    fields = json.loads(line)
    assert fields["request_context"]["items"][0]["include_mode"] == "INCLUDE_MODE_ALWAYS"
    assert fields["turn"]["tool_calls"][0]["duration"] == "0.060s"
    assert fields["create_time"] == "2026-01-02T03:04:05Z"
    assert "turn_id" not in fields


contents = st.text(st.characters(exclude_categories=["Cs"]))
some_messages = st.builds(
    sessions_pb2.ChatMessage, role=st.sampled_from(sessions_pb2.MessageRole.values()), content=contents
)


@given(st.lists(some_messages, max_size=5))
def test_each_message_is_one_line_and_comes_back_as_it_was(messages: list[sessions_pb2.ChatMessage]) -> None:
    text = "".join(f"{line}\n" for line in json_lines(messages))
    assert len(text.splitlines()) == len(messages)
    assert [json_format.Parse(line, sessions_pb2.ChatMessage()) for line in text.splitlines()] == messages
