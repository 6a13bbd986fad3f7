from typing import Any

from google.protobuf import duration_pb2
from hypothesis import given
from hypothesis import strategies as st

from proviso_client.v1 import chat_pb2, turns_pb2
from proviso_service.cli.transcript import Busy, Footnote, Note, Step, Transcript, Withdraw, Write, citation_lines
from tests.cli.scripted_server import discarded, final, start, token, turn


def told(*events: chat_pb2.AgentEvent) -> list[Step]:
    transcript = Transcript()
    return [step for event in turn(*events) for step in transcript.apply(event)]


def page(steps: list[Step]) -> str:
    """The answer as it stands after all steps."""
    text = ""
    for step in steps:
        match step:
            case Write(more):
                text += more
            case Withdraw(void, _):
                assert text.endswith(void)
                text = text.removesuffix(void)
    return text


def tool_start(call_id: str = "c1", input_json: str = '{"query": "governing law"}') -> chat_pb2.AgentEvent:
    return chat_pb2.AgentEvent(
        tool_start=chat_pb2.ToolStart(call_id=call_id, tool="isaacus_search", input_json=input_json)
    )


def tool_end(call_id: str = "c1", **fields: Any) -> chat_pb2.AgentEvent:
    end = chat_pb2.ToolEnd(
        call_id=call_id, tool="isaacus_search", duration=duration_pb2.Duration(nanos=250_000_000), **fields
    )
    return chat_pb2.AgentEvent(tool_end=end)


def test_tokens_are_written_as_they_come() -> None:
    assert told(start(), token("The law "), token("of Delaware."), final("The law of Delaware.")) == [
        Write("The law "),
        Write("of Delaware."),
    ]


def test_a_tool_call_is_one_line_with_its_duration() -> None:
    assert told(start(), tool_start(), tool_end()) == [
        Busy('isaacus_search(query="governing law") ...'),
        Note('isaacus_search(query="governing law")  0.25 s'),
    ]


def test_calls_that_overlap_keep_their_own_arguments() -> None:
    steps = told(tool_start("c1", '{"query": "a"}'), tool_start("c2", '{"query": "b"}'), tool_end("c2"), tool_end("c1"))
    notes = [step.text for step in steps if isinstance(step, Note)]
    assert notes == ['isaacus_search(query="b")  0.25 s', 'isaacus_search(query="a")  0.25 s']


def test_failure_and_cache_are_said() -> None:
    assert told(tool_end(error="timed\nout", from_cache=True)) == [
        Note("isaacus_search  0.25 s, from cache, failed: timed out")
    ]


def test_discarded_text_is_withdrawn() -> None:
    steps = told(token("Wrong."), discarded(), token("Right.", "b"), final("Right."))
    assert steps == [Write("Wrong."), Withdraw("Wrong.", "it stated facts without a source"), Write("Right.")]


def test_text_beside_the_discarded_one_stays() -> None:
    assert page(told(token("One. ", "a"), token("Two. ", "b"), discarded("a"), final("Two. "))) == "Two. "


def test_discarding_unknown_text_changes_nothing() -> None:
    assert told(token("One."), discarded("b")) == [Write("One.")]


def test_final_message_replaces_other_text() -> None:
    assert page(told(token("Draft."), final("Answer."))) == "Answer."


def test_answer_from_the_cache_is_written_without_tokens() -> None:
    assert told(start(), final("Answer.", from_cache=True)) == [Write("Answer.")]


def test_hidden_message_is_not_written() -> None:
    steps = told(
        final(
            "internal",
            display_message=False,
            exit_reason=turns_pb2.EXIT_REASON_EMPTY_INPUT,
            retryable=chat_pb2.RETRYABLE_YES,
        )
    )
    assert steps == [Note("Ended: EMPTY_INPUT; sending it again can help")]


def test_retry_hint_says_when() -> None:
    steps = told(
        final(
            "Busy.",
            exit_reason=turns_pb2.EXIT_REASON_RATE_LIMITED,
            retryable=chat_pb2.RETRYABLE_YES,
            retry_after=duration_pb2.Duration(seconds=12),
        )
    )
    assert steps == [Write("Busy."), Note("Ended: RATE_LIMITED; sending it again can help after 12 s")]


def test_what_helps_only_later_is_said_too() -> None:
    steps = told(
        final(
            "The budget is used up.",
            exit_reason=turns_pb2.EXIT_REASON_LLM_ERROR,
            exit_cause=turns_pb2.EXIT_CAUSE_OVER_BUDGET,
            retryable=chat_pb2.RETRYABLE_NO,
            retry_after=duration_pb2.Duration(seconds=3_599, nanos=1),
        )
    )
    ending = "Ended: LLM_ERROR (OVER_BUDGET); sending it again does not help; it may after 3,600 s"
    assert steps[-1] == Note(ending)


def test_citations_are_footnotes_by_number() -> None:
    state = chat_pb2.FinalState(
        citations=[
            chat_pb2.Citation(number=2, filename="nda.md", quote="x" * 500, permalink="cite:d2@0-500"),
            chat_pb2.Citation(
                number=1, filename="lease.md", heading="3. Rent", page=4, quote="The\nrent", permalink="cite:d1@5-13"
            ),
        ]
    )
    first, second = citation_lines(state)
    assert first == "[1] lease.md, 3. Rent, page 4: \u201cThe rent\u201d  cite:d1@5-13"
    assert second.startswith("[2] nda.md: \u201cxxx")
    assert "...\u201d  cite:d2@0-500" in second
    assert len(second) < 250


def test_quotes_of_one_source_share_a_footnote() -> None:
    quotes = [chat_pb2.Citation(number=1, filename="a.md", quote=quote) for quote in ("one", "two", "three")]
    (line,) = citation_lines(chat_pb2.FinalState(citations=quotes))
    assert "\u201cone\u201d" in line
    assert line.endswith("(and 2 more)")


def test_citations_follow_the_answer() -> None:
    cited = final(
        "Answer [1].", citations=[chat_pb2.Citation(number=1, filename="a.md", quote="q", permalink="cite:d@0-1")]
    )
    steps = told(token("Answer [1]."), cited)
    assert steps == [Write("Answer [1]."), Footnote("[1] a.md: \u201cq\u201d  cite:d@0-1")]


def test_sources_that_are_no_documents_are_footnotes_too() -> None:
    tool, reference, asset = (
        chat_pb2.CITATION_KIND_TOOL_CALL,
        chat_pb2.CITATION_KIND_REFERENCE,
        chat_pb2.CITATION_KIND_ASSET,
    )
    state = chat_pb2.FinalState(
        citations=[
            chat_pb2.Citation(kind=reference, name="House style", quote="in plain English"),
            chat_pb2.Citation(kind=asset, filename="https://a.example/plan.png"),
            chat_pb2.Citation(number=1, kind=tool, name="get_time", server_name="time", quote="12:00"),
            chat_pb2.Citation(kind=reference, name="House style", quote="no Latin"),
        ]
    )
    assert citation_lines(state) == [
        "[1] time:get_time: \u201c12:00\u201d",
        "• Reference House style: \u201cin plain English\u201d  (and 1 more)",
        "• https://a.example/plan.png",
    ]


def test_an_answer_says_what_was_left_out_of_it() -> None:
    assert told(final("One. […]", omitted_sentences=1)) == [
        Write("One. […]"),
        Note("1 sentence was left out, because no source holds what the model wrote there"),
    ]
    assert told(final("One. […]", omitted_sentences=2, message_truncated=True))[1:] == [
        Note("2 sentences were left out, because no source holds what the model wrote there"),
        Note("The end of the answer was left out: it is longer than the service sends"),
    ]
    assert told(final("One.", removed_markup=1))[1:] == [
        Note("Images, web addresses or HTML that no source holds were taken out of it")
    ]


def test_an_ending_names_its_cause() -> None:
    blocked = final(
        "The provider's rules of safety forbid an answer.",
        exit_reason=turns_pb2.EXIT_REASON_LLM_GENERATION_FAILURE,
        exit_cause=turns_pb2.EXIT_CAUSE_BLOCKED,
        retryable=chat_pb2.RETRYABLE_NO,
    )
    assert told(blocked)[-1] == Note("Ended: LLM_GENERATION_FAILURE (BLOCKED); sending it again does not help")


def test_control_characters_of_a_document_do_not_reach_the_terminal() -> None:
    assert told(token("a\x1b[31mb\u202ec\r\x9b")) == [Write("a\ufffd[31mb\ufffdc\ufffd\ufffd")]


Piece = st.tuples(st.sampled_from("abc"), st.text("xyz \n", max_size=5), st.booleans())


@given(st.lists(Piece, max_size=20))
def test_the_page_always_shows_the_texts_that_are_valid(pieces: list[tuple[str, str, bool]]) -> None:
    transcript = Transcript()
    steps: list[Step] = []
    valid: dict[str, str] = {}
    for text_id, text, is_discarded in pieces:
        event = discarded(text_id) if is_discarded else token(text, text_id)
        if is_discarded:
            valid.pop(text_id, None)
        else:
            valid[text_id] = valid.get(text_id, "") + text
        steps += transcript.apply(event)
    assert sorted(page_of(steps)) == sorted("".join(valid.values()))


def page_of(steps: list[Step]) -> str:
    """As `page`, where texts of several ids may be mixed: a withdrawal takes all that stands and writes it anew."""
    text = ""
    for step in steps:
        match step:
            case Write(more):
                text += more
            case Withdraw():
                text = ""
    return text
