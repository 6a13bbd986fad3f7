"""Behavioural contract, section 6: context and safety limits."""

import pytest

from proviso_client.v1 import chat_pb2, sessions_pb2
from proviso_service.turns import ExitReason, TurnConfig
from tests.support.contract_world import QUESTION, SEARCH, ContractWorld, EndedTurn, Mode
from tests.support.scripted_model import Step, text

pytestmark = pytest.mark.asyncio(loop_scope="module")

LIMIT = 12_000


def earlier(*contents: str) -> list[chat_pb2.HistoryMessage]:
    """Messages of the user and answers in turn."""
    roles = (sessions_pb2.MESSAGE_ROLE_USER, sessions_pb2.MESSAGE_ROLE_ASSISTANT)
    return [chat_pb2.HistoryMessage(role=roles[i % 2], content=text) for i, text in enumerate(contents)]


def characters_of(turn: EndedTurn) -> int:
    return int(turn.final.request_context.fill.characters_used)


async def filled(world: ContractWorld, spare: int, mode: Mode) -> EndedTurn:
    """A turn whose conversation leaves `spare` characters of the limit."""
    own = characters_of(await world.ask(text("Which one?")))
    history = earlier("x" * 5_000, "y" * (LIMIT - own - 5_000 - spare))
    answer = [text("Which one?")] if spare >= TurnConfig().min_tool_result_chars else []
    turn = await world.ask(*answer, mode=mode, history=history)
    assert characters_of(turn) == LIMIT - spare
    return turn


async def test_6_1_the_limit_is_of_characters_of_the_conversation(world: ContractWorld, mode: Mode) -> None:
    assert TurnConfig().max_context_chars == LIMIT
    turn = await world.ask(text("Which one?"), mode=mode, history=earlier("ä" * 100, "日" * 50))
    payload = world.payloads[0][1:]
    assert characters_of(turn) == sum(len(str(m.content)) for m in payload)
    assert len(str(world.payloads[0][0].content)) > characters_of(turn), "the system prompt is not counted"
    assert turn.final.request_context.fill.characters_limit == LIMIT


async def test_6_2_a_conversation_of_which_nothing_is_left_out_is_answered(world: ContractWorld, mode: Mode) -> None:
    assert (await filled(world, 500, mode)).reason is ExitReason.COMPLETED


@pytest.mark.parametrize("spare", [-1, -5_000])
async def test_6_3_a_conversation_that_would_lose_a_message_ends_the_turn_without_the_model(
    world: ContractWorld, mode: Mode, spare: int
) -> None:
    turn = await filled(world, spare, mode)
    assert turn.reason is ExitReason.MAX_CONTEXT_REACHED
    assert turn.final.usage.model_calls == 0


@pytest.mark.parametrize("spare", [0, 499])
async def test_6_4_a_conversation_without_room_for_a_tool_result_ends_as_one_that_overflows(
    world: ContractWorld, mode: Mode, spare: int
) -> None:
    assert (await filled(world, spare, mode)).reason is ExitReason.MAX_CONTEXT_REACHED


async def test_6_5_the_conversation_is_measured_before_every_model_call(world: ContractWorld, mode: Mode) -> None:
    wordy = Step(["word " * 2_000], [SEARCH])
    turn = await world.ask(wordy, Step(["word " * 300], [SEARCH]), mode=mode)
    assert (turn.reason, turn.final.usage.model_calls) == (ExitReason.MAX_CONTEXT_REACHED, 2)


async def test_6_6_what_the_model_answers_from_is_the_whole_conversation(world: ContractWorld, mode: Mode) -> None:
    await world.ask(text("Which one?"), mode=mode, history=earlier("One", "Two", "Three", "Four"))
    contents = [str(m.content) for m in world.payloads[0][1:]]
    assert contents[:-1] == ["One", "Two", "Three", "Four"]
    assert contents[-1].endswith(QUESTION)


async def test_6_7_the_turn_ends_with_words_for_the_person_and_keeps_no_text(world: ContractWorld, mode: Mode) -> None:
    wordy = Step(["Which? " * 1_400], [SEARCH])
    turn = await world.ask(wordy, Step(["Which? " * 220], [SEARCH]), mode=mode)
    assert "start a new conversation" in turn.final.message
    assert turn.standing_text == ""
    assert turn.discarded == ["NOT_FINAL", "NOT_FINAL"]
