"""Every exit reason that the agent itself can give."""

import asyncio
from typing import Any

import httpx
import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from proviso_service.context.model import DocumentSummary
from proviso_service.errors import TooBusy, Unavailable
from proviso_service.tools.base import SourcePassage
from proviso_service.turns import (
    CAUSE_SEMANTICS,
    NOT_ENOUGH_INFORMATION,
    Citation,
    DiscardReason,
    ExitCause,
    ExitReason,
    HistoryMessage,
    MessageRole,
    TextDiscarded,
    TextRelease,
    Token,
    ToolEnd,
    ToolStart,
    TurnConfig,
    TurnOptions,
    TurnStart,
    semantics_of,
)
from tests.support.agent_world import PASSAGE, AgentWorld, Lookup, LookupArgs, agent_world
from tests.support.scripted_model import Call, Step, calls, text

LOOKUP = Call("lookup", '{"query": "law"}')
GROUNDED = "It says “governed by the laws of Ohio” [1]."
INVENTED = text("It is “governed by the laws of Texas” [1].")


def http_error(status: int, headers: dict[str, str] | None = None) -> httpx.HTTPStatusError:
    request = httpx.Request("POST", "http://model.invalid/")
    return httpx.HTTPStatusError(
        "no", request=request, response=httpx.Response(status, headers=headers, request=request)
    )


def of_type(events: list[Any], kind: type) -> list[Any]:
    return [e for e in events if isinstance(e, kind)]


async def test_an_answer_that_quotes_a_source_is_completed_with_a_verified_citation() -> None:
    world = agent_world(calls(LOOKUP), text("It says “governed ", "by the laws of Ohio” [1]."))
    final = (await world.run("Which law?")).final_state
    assert final.exit_reason is ExitReason.COMPLETED
    assert final.message == GROUNDED
    assert (final.cycles, final.tool_calls, final.usage.model_calls) == (2, 1, 2)
    (citation,) = final.citations
    assert citation.quote == "governed by the laws of Ohio"
    assert PASSAGE.text[citation.start - 100 : citation.end - 100] == citation.quote
    assert final.message[citation.answer_start : citation.answer_end] == "“governed by the laws of Ohio” [1]"
    assert [type(e) for e in world.events] == [TurnStart, ToolStart, ToolEnd, Token, Citation]
    assert world.events[-1] == citation


@pytest.mark.parametrize("message", ["", "   ", "\n\t", "\u200b", "\u200d \u202e\ufeff\U000e0041", "\u3164\u2800"])
async def test_a_blank_message_ends_in_empty_input_without_a_model_call(message: str) -> None:
    world = agent_world()
    outcome = await world.run(message)
    assert outcome.final_state.exit_reason is ExitReason.EMPTY_INPUT
    assert outcome.final_state.message == ""
    assert not outcome.new_messages
    assert not outcome.update_matter_context
    assert not world.model.payloads


async def test_a_conversation_over_the_limit_ends_in_max_context_without_a_model_call() -> None:
    history = (HistoryMessage(MessageRole.USER, "x" * 9_000), HistoryMessage(MessageRole.ASSISTANT, "y" * 3_000))
    world = agent_world()
    outcome = await world.run("And now?", history=history)
    assert outcome.final_state.exit_reason is ExitReason.MAX_CONTEXT_REACHED
    assert outcome.final_state.message == CAUSE_SEMANTICS[ExitCause.CONVERSATION_FULL].message
    assert [(message.role, message.unsent) for message in outcome.new_messages] == [
        (MessageRole.USER, True),
        (MessageRole.ERROR, False),
    ]
    assert not world.model.payloads


async def test_too_little_room_for_a_tool_result_ends_in_max_context() -> None:
    world = agent_world()
    final = (await world.run("x" * 11_600)).final_state
    assert final.exit_reason is ExitReason.MAX_CONTEXT_REACHED


async def test_a_reply_is_asked_for_again_where_it_has_no_room_beside_the_next_one() -> None:
    world = agent_world(calls(LOOKUP), text("The cap is 5,000. " * 700), text(GROUNDED))
    final = (await world.run("Which law?")).final_state
    assert (final.exit_reason, final.message) == (ExitReason.COMPLETED, GROUNDED)
    assert [message.type for message in world.model.payloads[-1]] == ["system", "human", "ai", "tool", "human"]


async def test_a_seventh_model_call_is_not_made() -> None:
    unlimited = TurnOptions(max_tool_calls=50)
    world = agent_world(*[calls(LOOKUP)] * 6)
    final = (await world.run("Which law?", options=unlimited)).final_state
    assert final.exit_reason is ExitReason.MAX_TURNS_REACHED
    assert (final.cycles, final.tool_calls) == (6, 6)
    assert len(world.model.payloads) == 6


async def test_three_tool_calls_and_an_answer_are_completed() -> None:
    world = agent_world(calls(LOOKUP), calls(LOOKUP), calls(LOOKUP), text(GROUNDED))
    final = (await world.run("Which law?")).final_state
    assert (final.exit_reason, final.tool_calls, final.cycles) == (ExitReason.COMPLETED, 3, 4)


async def test_the_fourth_requested_call_leads_to_an_answer_without_tools() -> None:
    lookup = Lookup()
    world = agent_world(calls(LOOKUP, LOOKUP), calls(LOOKUP, LOOKUP), text(GROUNDED), tools=[lookup])
    final = (await world.run("Which law?")).final_state
    assert final.exit_reason is ExitReason.MAX_TOOL_CALLS_REACHED
    assert final.message == GROUNDED
    assert (final.tool_calls, final.cycles, len(lookup.scopes)) == (3, 2, 3)
    assert world.model.tools_seen == [["lookup"]] * 3
    assert world.model.tool_choices == [None, None, "none"]
    told = [m for m in world.model.payloads[-1] if isinstance(m, ToolMessage)][-1]
    assert "limit of tool calls" in str(told.content)


@pytest.mark.parametrize(
    ("last", "reason", "cause"),
    [
        (calls(LOOKUP), ExitReason.MAX_TOOL_CALLS_REACHED, None),
        (Step(), ExitReason.LLM_GENERATION_FAILURE, ExitCause.EMPTY),
    ],
    ids=["tools again", "nothing"],
)
async def test_an_answer_step_without_an_answer_is_bounded(
    last: Step, reason: ExitReason, cause: ExitCause | None
) -> None:
    world = agent_world(calls(*[LOOKUP] * 4), calls(LOOKUP), last)
    outcome = await world.run("Which law?")
    final = outcome.final_state
    assert (final.exit_reason, final.exit_cause) == (reason, cause)
    assert final.message == semantics_of(reason, cause).message
    assert outcome.new_messages[-1].role is MessageRole.ERROR
    assert len(world.model.payloads) == 3


async def test_facts_after_an_empty_retrieval_are_replaced_by_the_prescribed_sentence_and_never_streamed() -> None:
    world = agent_world(calls(LOOKUP), text("It is ", "Ohio."), tools=[Lookup([])])
    final = (await world.run("Which law?")).final_state
    assert (final.exit_reason, final.exit_cause) == (ExitReason.LLM_GENERATION_FAILURE, ExitCause.NOTHING_FOUND)
    assert final.message == NOT_ENOUGH_INFORMATION
    assert of_type(world.events, Token) == of_type(world.events, TextDiscarded) == []


@pytest.mark.parametrize(
    "refusal",
    [
        "I don't have enough information on the governing law.",
        "Ich habe nicht genügend Informationen, um das zu beantworten.",
        "Je n’ai pas assez d’informations pour répondre.",
        "No tengo información suficiente para responder.",
    ],
)
async def test_a_refusal_after_an_empty_retrieval_is_told_in_the_models_own_words(refusal: str) -> None:
    world = agent_world(calls(LOOKUP), text(refusal), tools=[Lookup([])])
    final = (await world.run("Which law?")).final_state
    assert (final.exit_reason, final.exit_cause) == (ExitReason.LLM_GENERATION_FAILURE, ExitCause.NOTHING_FOUND)
    assert final.message == refusal
    assert [token.text for token in of_type(world.events, Token)] == [refusal]
    assert not of_type(world.events, TextDiscarded)


async def test_a_question_back_after_an_empty_retrieval_is_completed() -> None:
    world = agent_world(calls(LOOKUP), text("Which agreement do you mean?"), tools=[Lookup([])])
    final = (await world.run("Which law?")).final_state
    assert (final.exit_reason, final.message) == (ExitReason.COMPLETED, "Which agreement do you mean?")


async def test_a_second_retrieval_that_finds_something_grounds_the_answer() -> None:
    world = agent_world(calls(LOOKUP), calls(LOOKUP), text(GROUNDED), tools=[Lookup([], [PASSAGE])])
    assert (await world.run("Which law?")).final_state.exit_reason is ExitReason.COMPLETED


async def test_a_model_that_returns_nothing_is_called_once_more() -> None:
    world = agent_world(Step(), text("Hello."))
    final = (await world.run("Hi")).final_state
    assert (final.exit_reason, final.cycles) == (ExitReason.COMPLETED, 2)
    assert not any(isinstance(m, AIMessage) for m in world.model.payloads[1])


async def test_second_empty_reply_ends_in_generation_failure() -> None:
    final = (await agent_world(Step(), Step()).run("Hi")).final_state
    assert (final.exit_reason, final.exit_cause) == (ExitReason.LLM_GENERATION_FAILURE, ExitCause.EMPTY)
    assert final.cycles == 2


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (Call("no_such_tool"), "There is no such tool. The tools are: lookup."),
        (Call("lookup", '{"query": 3}'), "query: must be text"),
        (Call("lookup", "{}"), "query: is missing"),
        (Call("lookup", '{"query": "law", "colour": 1}'), "colour: is not a field that is known here"),
        (Call("lookup", "query=law"), "not valid JSON"),
    ],
)
async def test_an_invalid_tool_call_is_explained_once_and_then_ends_the_turn(call: Call, told: str) -> None:
    world = agent_world(calls(call), calls(call))
    final = (await world.run("Which law?")).final_state
    assert (final.exit_reason, final.tool_calls) == (ExitReason.INVALID_TOOL_CALL, 0)
    assert told in str(world.model.payloads[1][-1].content)


async def test_a_model_that_mends_its_tool_call_goes_on() -> None:
    world = agent_world(calls(Call("lookup", "{}")), calls(LOOKUP), text(GROUNDED))
    final = (await world.run("Which law?")).final_state
    assert (final.exit_reason, final.tool_calls) == (ExitReason.COMPLETED, 1)


async def test_rate_limit_after_two_retries_is_rate_limited_with_the_time_to_wait() -> None:
    limited = Step(error=http_error(429, {"retry-after": "0.01"}))
    world = agent_world(limited, limited, limited)
    final = (await world.run("Which law?")).final_state
    assert (final.exit_reason, final.retry_after_s) == (ExitReason.RATE_LIMITED, 0.01)
    assert (final.usage.model_calls, final.cycles) == (3, 1)


@pytest.mark.parametrize(("error", "attempts"), [(http_error(503), 3), (http_error(400), 1), (ValueError("x"), 1)])
async def test_other_model_failures_end_in_llm_error_and_only_transient_ones_are_retried(
    error: Exception, attempts: int
) -> None:
    world = agent_world(*[Step(error=error)] * attempts)
    final = (await world.run("Which law?")).final_state
    assert final.exit_reason is ExitReason.LLM_ERROR
    assert "x" not in final.message.split()
    assert len(world.model.payloads) == attempts


async def test_a_sentence_of_a_stream_that_breaks_is_discarded_and_the_answer_written_again() -> None:
    world = agent_world(Step(["Hello. ", "How ca"], error=ConnectionError()), text("Hello."))
    final = (await world.run("Hi")).final_state
    assert (final.exit_reason, final.message) == (ExitReason.COMPLETED, "Hello.")
    assert world.events[1:] == [
        Token("text-1", "Hello."),
        TextDiscarded("text-1", DiscardReason.MODEL_RETRY),
        Token("text-2", "Hello."),
    ]


async def test_half_a_sentence_of_a_stream_that_breaks_is_never_seen() -> None:
    world = agent_world(Step(["Hel"], error=ConnectionError()), text("Hello."))
    await world.run("Hi")
    assert world.events[1:] == [Token("text-2", "Hello.")]


async def test_text_before_a_tool_call_is_not_the_answer() -> None:
    world = agent_world(Step(["Let me look. "], [LOOKUP]), text(GROUNDED))
    await world.run("Which law?")
    assert of_type(world.events, TextDiscarded) == [TextDiscarded("text-1", DiscardReason.NOT_FINAL)]


@pytest.mark.parametrize(
    ("script", "found", "discarded"),
    [
        ([Step(["Hel"], error=ConnectionError()), text("Hello.")], [PASSAGE], [DiscardReason.MODEL_RETRY]),
        ([Step(["Let me look"], [LOOKUP]), text(GROUNDED)], [PASSAGE], [DiscardReason.NOT_FINAL]),
        ([calls(LOOKUP), text("It is ", "Ohio.")], [], [DiscardReason.EMPTY_RETRIEVAL]),
        ([calls(LOOKUP), INVENTED, INVENTED], [PASSAGE], [DiscardReason.GROUNDING] * 2),
    ],
)
async def test_raw_text_goes_out_as_it_is_written_and_is_discarded_where_it_does_not_stand(
    script: list[Step], found: list[SourcePassage], discarded: list[DiscardReason]
) -> None:
    world = agent_world(*script, tools=[Lookup(found)])
    await world.run("Which law?", options=TurnOptions(text_release=TextRelease.RAW))
    assert [e.reason for e in of_type(world.events, TextDiscarded)] == discarded
    written = "".join(token for step in script for token in step.tokens)
    assert "".join(token.text for token in of_type(world.events, Token)) == written


@pytest.mark.parametrize(
    "failures",
    [
        (TimeoutError(), ConnectionError()),
        (TooBusy("Too many searches", 0.001), Unavailable("No storage"), ConnectionError("gone")),
    ],
)
async def test_a_transient_tool_failure_is_retried_and_counts_once(
    failures: tuple[Exception, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Unavailable, "retry_after_s", 0.001)
    world = agent_world(calls(LOOKUP), text(GROUNDED), tools=[Lookup(*failures, [PASSAGE])])
    final = (await world.run("Which law?")).final_state
    assert (final.exit_reason, final.tool_calls) == (ExitReason.COMPLETED, 1)


async def test_a_tool_that_keeps_failing_is_told_to_the_model_without_the_exception() -> None:
    world = agent_world(calls(LOOKUP), text("I could not look that up."), tools=[Lookup(RuntimeError("secret"))])
    final = (await world.run("Which law?")).final_state
    assert final.exit_reason is ExitReason.COMPLETED
    (end,) = of_type(world.events, ToolEnd)
    assert end.error
    assert "secret" not in end.error + end.output


async def test_an_ungrounded_answer_is_asked_for_once_more_and_then_refused_and_never_streamed() -> None:
    world = agent_world(calls(LOOKUP), INVENTED, INVENTED)
    final = (await world.run("Which law?")).final_state
    assert (final.exit_reason, final.exit_cause) == (ExitReason.LLM_GENERATION_FAILURE, ExitCause.UNGROUNDED)
    assert final.message == CAUSE_SEMANTICS[ExitCause.UNGROUNDED].message
    assert (final.cycles, final.citations) == (3, ())
    assert of_type(world.events, Token) == of_type(world.events, TextDiscarded) == []


async def test_an_answer_grounded_at_the_second_attempt_is_completed() -> None:
    world = agent_world(calls(LOOKUP), text("It is “the laws of Texas, surely” [1]."), text(GROUNDED))
    final = (await world.run("Which law?")).final_state
    assert (final.exit_reason, final.message, final.omitted_sentences) == (ExitReason.COMPLETED, GROUNDED, 0)


async def test_an_answer_beside_the_passages_that_were_found_is_asked_for_once_more() -> None:
    world = agent_world(calls(LOOKUP), text("The law of Texas governs it."), text(GROUNDED))
    final = (await world.run("Which law?")).final_state
    assert (final.exit_reason, final.message) == (ExitReason.COMPLETED, GROUNDED)
    assert not of_type(world.events, TextDiscarded)


async def test_an_invented_sentence_beside_a_true_one_is_left_out_with_a_mark_and_counted() -> None:
    both = text(f"{GROUNDED} The courts of Texas decide [1].")
    world = agent_world(calls(LOOKUP), both, both)
    final = (await world.run("Which law?")).final_state
    assert (final.exit_reason, final.omitted_sentences) == (ExitReason.COMPLETED, 1)
    assert final.message == f"{GROUNDED} [One sentence was left out here: no source holds it.]"
    assert of_type(world.events, TextDiscarded) == [TextDiscarded("text-2", DiscardReason.GROUNDING)]
    shown = [token.text for token in of_type(world.events, Token) if token.text_id == "text-3"]
    assert "".join(shown) == final.message
    assert not any("Texas" in token.text for token in of_type(world.events, Token))


async def test_a_true_sentence_without_its_number_is_asked_for_again_and_then_shown_with_its_source() -> None:
    bare = text("This Agreement is governed by the laws of Ohio.")
    world = agent_world(calls(LOOKUP), bare, bare)
    final = (await world.run("Which law?")).final_state
    assert (final.exit_reason, final.message, final.cycles) == (ExitReason.COMPLETED, bare.tokens[0], 3)
    (citation,) = final.citations
    assert (citation.number, citation.quote) == (0, PASSAGE.text)
    assert final.message[citation.answer_start : citation.answer_end] == final.message


async def test_the_model_is_sent_system_prompt_history_and_message_in_order() -> None:
    history = (HistoryMessage(MessageRole.USER, "Hello"), HistoryMessage(MessageRole.ASSISTANT, "Good day."))
    world = agent_world(text("Yes."))
    await world.run("Are you there?", history=history)
    kinds = [type(m) for m in world.model.payloads[0]]
    assert kinds == [SystemMessage, HumanMessage, AIMessage, HumanMessage]
    assert str(world.model.payloads[0][-1].content).endswith("\n\nAre you there?")


async def test_a_matter_id_sent_by_the_model_is_ignored() -> None:
    lookup = Lookup()
    world = agent_world(calls(Call("lookup", '{"query": "law", "matter_id": "other"}')), text(GROUNDED), tools=[lookup])
    await world.run("Which law?")
    assert [scope.matter_id for scope in lookup.scopes] == ["25e70284-6124-4a2b-9c89-0123456789ab"]


async def test_tool_results_are_cut_to_what_is_left() -> None:
    long = [PASSAGE.__class__("d", "A.md", 0, "word " * 2_000)]
    world = agent_world(calls(LOOKUP, LOOKUP, LOOKUP), text("Which part?"), tools=[Lookup(long)])
    await world.run("Which law?", options=TurnOptions(max_context_chars=4_000))
    results = [m for m in world.model.payloads[1] if isinstance(m, ToolMessage)]
    assert sum(len(str(m.content)) for m in results) < 4_000
    assert all(e.truncated for e in of_type(world.events, ToolEnd))


class RoomyArgs(LookupArgs):
    @property
    def room(self) -> int:
        return 4


class RoomyLookup(Lookup):
    args = RoomyArgs


@pytest.mark.parametrize(
    ("tool", "usual", "calls_allowed", "least", "most"),
    [
        (Lookup, 1_000, 3, 990, 1_000),
        (RoomyLookup, 1_000, 3, 3_990, 4_000),
        (RoomyLookup, 2_500, 3, 9_400, 9_600),
        (RoomyLookup, 2_500, 1, 9_990, 10_000),
        (RoomyLookup, 4_000, 1, 11_800, 12_000),
    ],
)
async def test_a_result_has_as_often_the_usual_room_as_it_may_while_others_keep_a_fifth_of_the_rest(
    tool: type[Lookup], usual: int, calls_allowed: int, least: int, most: int
) -> None:
    long = [SourcePassage("d", "A.md", 0, "word " * 4_000)]
    turns = TurnConfig(tool_result_chars=usual)
    world = agent_world(calls(LOOKUP), text("Which part?"), tools=[tool(long)], turns=turns)
    await world.run("Which law?", options=TurnOptions(max_tool_calls=calls_allowed))
    (result,) = [m for m in world.model.payloads[1] if isinstance(m, ToolMessage)]
    assert least <= len(str(result.content)) <= most


async def test_a_cancelled_turn_voids_the_text_it_had_written() -> None:
    world = agent_world(Step(["Hello. ", "Half a "], hold_after=asyncio.Event()))
    await cancelled_in_the_middle(world)
    assert world.events[1:] == [Token("text-1", "Hello."), TextDiscarded("text-1", DiscardReason.NOT_FINAL)]


async def test_half_a_sentence_of_a_cancelled_turn_is_never_seen() -> None:
    world = agent_world(Step(["Half an "], hold_after=asyncio.Event()))
    await cancelled_in_the_middle(world)
    assert world.events[1:] == []


async def cancelled_in_the_middle(world: AgentWorld) -> None:
    turn = asyncio.create_task(world.run("Which law?"))
    await world.model.held.wait()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn


async def test_a_reply_of_white_space_is_voided_before_the_model_is_called_again() -> None:
    world = agent_world(Step([" ", "\n"]), text("Hello."))
    await world.run("Hi")
    assert of_type(world.events, TextDiscarded) == [TextDiscarded("text-1", DiscardReason.NOT_FINAL)]


async def test_calls_get_ids_of_their_own_where_the_model_repeats_or_omits_them() -> None:
    same = Call("lookup", '{"query": "law"}', "x")
    lookup = Lookup()
    world = agent_world(calls(same, same), calls(same), text(GROUNDED), tools=[lookup])
    await world.run("Which law?")
    started = [e.call_id for e in of_type(world.events, ToolStart)]
    assert len(set(started)) == len(lookup.scopes) == 3
    answered = [m.tool_call_id for m in world.model.payloads[-1] if isinstance(m, ToolMessage)]
    asked = [c["id"] for m in world.model.payloads[-1] if isinstance(m, AIMessage) for c in m.tool_calls]
    assert answered == asked == started


async def test_the_services_own_notes_take_no_room_from_the_conversation() -> None:
    world = agent_world(calls(*[LOOKUP] * 60), text(GROUNDED))
    final = (await world.run("Which law?", options=TurnOptions(max_context_chars=3_000))).final_state
    assert final.exit_reason is ExitReason.MAX_TOOL_CALLS_REACHED


async def test_a_conversation_over_the_limit_says_how_long_it_is_and_that_the_model_had_nothing_of_it() -> None:
    history = (HistoryMessage(MessageRole.USER, "x" * 9_000), HistoryMessage(MessageRole.ASSISTANT, "y" * 4_000))
    notes = (DocumentSummary("a.md", "md", "Notes."),)
    world = agent_world()
    context = (await world.run("And now?", history=history, document_context=notes)).final_state.request_context
    assert context is not None
    assert context.fill.characters_used > 13_000
    assert (context.items, context.payload_sha256) == ((), "")
    assert [(a.included, a.note) for a in context.assets] == [(False, "the model was not called")]


@pytest.mark.parametrize("header", ["inf", "-1", "nan", "1e300", "tomorrow", "Wed, 21 Oct 9999 07:28:00 GMT"])
async def test_a_time_to_wait_that_is_no_sensible_number_is_left_out(header: str) -> None:
    world = agent_world(*[Step(error=http_error(429, {"retry-after": header}))] * 3)
    assert (await world.run("Which law?")).final_state.retry_after_s is None
