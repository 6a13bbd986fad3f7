"""Behavioural contract, section 7: what leads to each exit reason, and what it says to the caller."""

import grpc
import httpx
import pytest

from proviso_client.v1 import chat_pb2, sessions_pb2, turns_pb2
from proviso_service.turns import CAUSE_SEMANTICS, EXIT_SEMANTICS, ExitCause, ExitReason, semantics_of
from tests.support.contract_world import GROUNDED, LIST, SEARCH, SIX_STEPS, UNKNOWN, ContractWorld, EndedTurn, Mode
from tests.support.running import cause_of, chat_request
from tests.support.scripted_model import Call, Step, calls, text

pytestmark = pytest.mark.asyncio(loop_scope="module")

YES, NO, MAYBE, NOT_APPLICABLE = (
    chat_pb2.RETRYABLE_YES,
    chat_pb2.RETRYABLE_NO,
    chat_pb2.RETRYABLE_MAYBE,
    chat_pb2.RETRYABLE_NOT_APPLICABLE,
)


def said(turn: EndedTurn) -> tuple[ExitReason, int, bool]:
    return turn.reason, turn.final.retryable, turn.final.display_message


def refusal(status: int, **headers: str) -> httpx.HTTPStatusError:
    request = httpx.Request("POST", "http://model.invalid/")
    return httpx.HTTPStatusError("no", request=request, response=httpx.Response(status, headers=headers))


async def test_7_0_the_reasons_are_those_of_the_list_and_three_of_the_service() -> None:
    names = [name.removeprefix("EXIT_REASON_") for name in turns_pb2.ExitReason.keys()]  # noqa: SIM118 - an enum wrapper
    assert names[1:10] == [
        "COMPLETED",
        "MAX_TURNS_REACHED",
        "MAX_TOOL_CALLS_REACHED",
        "MAX_CONTEXT_REACHED",
        "EMPTY_INPUT",
        "RATE_LIMITED",
        "LLM_ERROR",
        "LLM_GENERATION_FAILURE",
        "INVALID_TOOL_CALL",
    ]
    assert names[10:] == ["CANCELLED", "DEADLINE_EXCEEDED", "INTERNAL_ERROR"]


async def test_7_1_completed_when_the_model_answers_without_tool_calls(world: ContractWorld, mode: Mode) -> None:
    turn = await world.ask(calls(SEARCH), text(GROUNDED), mode=mode)
    assert said(turn) == (ExitReason.COMPLETED, NOT_APPLICABLE, True)
    assert turn.final.message == GROUNDED


@pytest.mark.parametrize(("limits", "steps"), [({}, SIX_STEPS), ({"max_turns": 2}, SIX_STEPS[:2])])
async def test_7_2_max_turns_reached_where_the_model_has_not_answered_in_six_calls(
    world: ContractWorld, mode: Mode, limits: dict[str, int], steps: tuple[Step, ...]
) -> None:
    turn = await world.ask(*steps, mode=mode, options=limits)
    assert said(turn) == (ExitReason.MAX_TURNS_REACHED, YES, True)
    assert "rephrase" in turn.final.message
    assert turn.final.cycles == len(steps)


@pytest.mark.parametrize(("limits", "wanted"), [({}, 4), ({"max_tool_calls": 1}, 2), ({"disable_tools": True}, 1)])
async def test_7_3_max_tool_calls_reached_with_an_answer_from_what_was_found(
    world: ContractWorld, mode: Mode, limits: dict[str, int], wanted: int
) -> None:
    executed = wanted - 1
    answer = "There is one document." if executed else "Which one?"
    turn = await world.ask(calls(*[LIST] * wanted), text(answer), mode=mode, options=limits)
    assert said(turn) == (ExitReason.MAX_TOOL_CALLS_REACHED, YES, True)
    assert turn.final.message == turn.standing_text == answer
    assert (turn.final.tool_calls, turn.final.cycles, turn.final.usage.model_calls) == (executed, 1, 2)
    assert "limit of tool calls" in str(world.payloads[-1][-1].content)
    assert world.model.tool_choices[-1] == "none"


async def test_7_4_max_context_reached_where_the_conversation_is_too_long(world: ContractWorld, mode: Mode) -> None:
    history = [chat_pb2.HistoryMessage(role=sessions_pb2.MESSAGE_ROLE_USER, content="x" * 12_000)]
    turn = await world.ask(message="And now?", history=history, mode=mode)
    assert said(turn) == (ExitReason.MAX_CONTEXT_REACHED, NO, True)
    assert cause_of(turn.final) is ExitCause.CONVERSATION_FULL
    assert "start a new conversation" in turn.final.message
    message = await world.ask(message="x" * 12_001, mode=mode)
    assert said(message) == (ExitReason.MAX_CONTEXT_REACHED, NO, True)
    assert cause_of(message.final) is ExitCause.MESSAGE_TOO_LONG


async def test_7_5_empty_input_says_nothing(world: ContractWorld, mode: Mode) -> None:
    turn = await world.ask(message=" ", mode=mode)
    assert said(turn) == (ExitReason.EMPTY_INPUT, YES, False)
    assert (turn.final.message, list(turn.final.messages)) == ("", [])


async def test_7_6_rate_limited_after_the_retries_and_says_how_long_to_wait(world: ContractWorld, mode: Mode) -> None:
    limited = Step(error=refusal(429, **{"retry-after": "0.01"}))
    turn = await world.ask(limited, limited, limited, mode=mode)
    assert said(turn) == (ExitReason.RATE_LIMITED, YES, True)
    assert turn.final.retry_after.ToTimedelta().total_seconds() == 0.01
    assert turn.final.message == EXIT_SEMANTICS[ExitReason.RATE_LIMITED].message


@pytest.mark.parametrize(
    ("error", "attempts", "retryable", "cause"),
    [
        (refusal(503), 3, YES, ExitCause.PROVIDER_FAILED),
        (ConnectionError("secret"), 3, YES, ExitCause.PROVIDER_FAILED),
        (refusal(400), 1, NO, ExitCause.PROVIDER_REFUSED),
        (ValueError("secret"), 1, MAYBE, None),
    ],
    ids=["503", "connection", "400", "unknown"],
)
async def test_7_7_llm_error_for_any_other_failure_without_its_details(
    world: ContractWorld, mode: Mode, error: Exception, attempts: int, retryable: int, cause: ExitCause | None
) -> None:
    turn = await world.ask(*[Step(error=error)] * attempts, mode=mode)
    assert said(turn) == (ExitReason.LLM_ERROR, retryable, True)
    assert turn.final.message == semantics_of(ExitReason.LLM_ERROR, cause).message
    assert not turn.final.HasField("retry_after")
    assert "secret" not in str(turn.events)


@pytest.mark.parametrize("empty", [Step(), Step([" ", "\n"])], ids=["nothing", "white space"])
async def test_7_8_llm_generation_failure_where_the_model_returns_nothing_twice(
    world: ContractWorld, mode: Mode, empty: Step
) -> None:
    turn = await world.ask(empty, empty, mode=mode)
    assert said(turn) == (ExitReason.LLM_GENERATION_FAILURE, YES, True)
    assert (turn.final.message, turn.final.cycles) == (CAUSE_SEMANTICS[ExitCause.EMPTY].message, 2)


@pytest.mark.parametrize(
    "wrong",
    [UNKNOWN, Call("isaacus_search"), Call("isaacus_search", '{"query": 1}'), Call("isaacus_search", "law")],
    ids=["no such tool", "missing argument", "wrong type", "no JSON"],
)
async def test_7_9_invalid_tool_call_where_the_model_does_not_mend_it(
    world: ContractWorld, mode: Mode, wrong: Call
) -> None:
    turn = await world.ask(calls(wrong), calls(wrong), mode=mode)
    assert said(turn) == (ExitReason.INVALID_TOOL_CALL, YES, True)
    assert "rephrase" in turn.final.message
    assert turn.final.tool_calls == 0
    assert '"error"' in str(world.payloads[1][-1].content)


async def test_7_10_an_invalid_tool_call_that_is_mended_costs_nothing(world: ContractWorld, mode: Mode) -> None:
    turn = await world.ask(calls(UNKNOWN, SEARCH), calls(LIST, SEARCH), text(GROUNDED), mode=mode)
    assert (turn.reason, turn.final.tool_calls) == (ExitReason.COMPLETED, 3)


RAISED = (
    chat_pb2.ChatOptions(max_turns=7),
    chat_pb2.ChatOptions(max_tool_calls=4),
    chat_pb2.ChatOptions(max_context_chars=12_001),
)


@pytest.mark.parametrize("options", RAISED, ids=["turns", "tool calls", "context"])
async def test_7_11_limits_can_be_lowered_and_never_raised(world: ContractWorld, options: chat_pb2.ChatOptions) -> None:
    with pytest.raises(grpc.aio.AioRpcError, match="is above the service's limit") as caught:
        await world.service.chat.Invoke(chat_request("Hello", world.matter_id, options=options))
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
