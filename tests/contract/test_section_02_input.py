"""Behavioural contract, section 2: input."""

import pytest
from langchain_core.messages import SystemMessage

from proviso_service.turns import ExitReason
from tests.support.contract_world import QUESTION, ContractWorld, Mode
from tests.support.scripted_model import text

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_2_1_a_turn_answers_one_message_of_text(world: ContractWorld, mode: Mode) -> None:
    turn = await world.ask(text("Which one?"), mode=mode)
    assert turn.reason is ExitReason.COMPLETED
    assert [m.content for m in turn.final.messages] == [QUESTION, "Which one?"]


async def test_2_2_a_message_that_is_not_empty_goes_to_the_model(world: ContractWorld, mode: Mode) -> None:
    await world.ask(text("Which one?"), mode=mode)
    (payload,) = world.payloads
    assert str(payload[-1].content).endswith(f"\n\n{QUESTION}")


@pytest.mark.parametrize("blank", ["", "   ", "\n\t \r\n", "\u00a0\u2003", "\u200b", " \ufeff\u2060\u202e\n"])
async def test_2_3_a_blank_message_ends_in_empty_input_without_the_model(
    world: ContractWorld, mode: Mode, blank: str
) -> None:
    turn = await world.ask(message=blank, mode=mode)
    assert turn.reason is ExitReason.EMPTY_INPUT
    assert turn.kinds == ["turn_start", "final_state"]
    assert turn.final.usage.model_calls == 0


@pytest.mark.parametrize("message", ["It", "?!", "asdf qwer", '{"a": [', "Tell me a joke", "<b>law</b>\u0000"])
async def test_2_4_what_a_message_means_is_not_judged_before_the_model_has_it(
    world: ContractWorld, mode: Mode, message: str
) -> None:
    turn = await world.ask(text("What do you mean?"), message=message, mode=mode)
    assert turn.reason is ExitReason.COMPLETED
    assert str(world.payloads[0][-1].content).endswith(f"\n\n{message}")


async def test_2_5_the_model_is_told_to_ask_where_a_question_is_unclear_and_may(
    world: ContractWorld, mode: Mode
) -> None:
    turn = await world.ask(text("Which agreement ", "do you mean?"), message="And that?", mode=mode)
    (prompt,) = [m for m in world.payloads[0] if isinstance(m, SystemMessage)]
    assert "If the question is unclear, ask what is meant." in str(prompt.content)
    assert (turn.reason, turn.final.message) == (ExitReason.COMPLETED, "Which agreement do you mean?")
