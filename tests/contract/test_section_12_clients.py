"""Behavioural contract, section 12: what clients can rely on."""

import asyncio
from pathlib import Path

import httpx
import pytest

from proviso_client.v1 import chat_pb2, sessions_pb2, turns_pb2
from proviso_service.turns import EXIT_SEMANTICS, NOT_ENOUGH_INFORMATION, ExitReason
from tests.support.contract_world import (
    GROUNDED,
    INVENTED,
    QUESTION,
    SEARCH,
    SIX_STEPS,
    ContractWorld,
    Mode,
    contract_world,
)
from tests.support.running import final_of
from tests.support.scripted_model import Step, calls, text

pytestmark = pytest.mark.asyncio(loop_scope="module")


def limited(retry_after: str) -> Step:
    response = httpx.Response(429, headers={"retry-after": retry_after})
    request = httpx.Request("POST", "http://m.invalid/")
    return Step(error=httpx.HTTPStatusError("no", request=request, response=response))


async def test_12_1_every_final_state_has_an_exit_reason_that_also_get_turn_tells(
    world: ContractWorld, mode: Mode
) -> None:
    for script in ([text("Which one?")], [Step(), Step()], [Step(error=ValueError())]):
        turn = await world.ask(*script, mode=mode)
        kept = await world.other.chat.GetTurn(chat_pb2.GetTurnRequest(turn_id=turn.turn_id))
        assert kept.final_state.exit_reason == turn.final.exit_reason != turns_pb2.EXIT_REASON_UNSPECIFIED


async def test_12_2_the_last_token_does_not_say_that_the_turn_is_over(world: ContractWorld, mode: Mode) -> None:
    turn = await world.ask(calls(SEARCH), text(f"{GROUNDED} {INVENTED}"), text(GROUNDED), mode=mode)
    first_text = turn.kinds.index("token")
    assert turn.kinds[first_text:] == ["token", "text_discarded", "token", "citation", "final_state"]


async def test_12_3_a_kept_answer_is_a_final_state_at_once_with_no_tokens_before_it(
    world: ContractWorld, mode: Mode, new_matter: str
) -> None:
    await world.ask(text("Which one?"), mode=mode, matter_id=new_matter, cached=True)
    again = await world.ask(mode=mode, matter_id=new_matter, cached=True)
    assert again.kinds == ["turn_start", "final_state"]
    assert (again.reason, again.final.from_cache) == (ExitReason.COMPLETED, True)
    assert (again.final.message, again.final.display_message) == ("Which one?", True)


async def test_12_4_the_message_for_display_is_the_last_of_the_messages(world: ContractWorld, mode: Mode) -> None:
    for script in ([text("Which one?")], [calls(SEARCH), text(GROUNDED)], [Step(), Step()], list(SIX_STEPS)):
        turn = await world.ask(*script, mode=mode)
        assert turn.final.display_message
        assert turn.final.messages[-1].content == turn.final.message
        answered = turn.reason is ExitReason.COMPLETED
        role = sessions_pb2.MESSAGE_ROLE_ASSISTANT if answered else sessions_pb2.MESSAGE_ROLE_ERROR
        assert turn.final.messages[-1].role == role


async def test_12_5_canned_messages_come_word_for_word(world: ContractWorld, mode: Mode) -> None:
    turns_reached = await world.ask(*SIX_STEPS, mode=mode)
    context_reached = await world.ask(message="x" * 12_001, mode=mode)
    expected = EXIT_SEMANTICS[ExitReason.MAX_TURNS_REACHED].message
    for turn, said in ((turns_reached, expected), (context_reached, "This message is too long: at most ")):
        assert turn.final.message.startswith(said)
        assert turn.standing_text == ""


async def test_12_6_rate_limited_says_how_long_to_back_off_and_a_retry_can_help(
    world: ContractWorld, mode: Mode
) -> None:
    turn = await world.ask(limited("3600"), mode=mode)
    assert (turn.reason, turn.final.retryable) == (ExitReason.RATE_LIMITED, chat_pb2.RETRYABLE_YES)
    assert turn.final.retry_after.seconds == 3_600
    assert (await world.ask(text("Which one?"), mode=mode)).reason is ExitReason.COMPLETED


async def test_12_7_a_message_that_is_sent_again_after_a_failure_counts_once(world: ContractWorld, mode: Mode) -> None:
    session = f"section-12-{mode}"
    for script in ([Step(error=ValueError())], [text("Which one?")]):
        await world.ask(*script, mode=mode, session_id=session)
    assert [str(m.content).endswith(QUESTION) for m in world.payloads[0][1:]] == [True]


async def test_12_8_not_knowing_is_a_sound_answer(world: ContractWorld, mode: Mode) -> None:
    turn = await world.ask(calls(SEARCH), text(NOT_ENOUGH_INFORMATION), mode=mode)
    assert (turn.reason, turn.final.display_message) == (ExitReason.COMPLETED, True)
    assert (turn.final.message, list(turn.final.citations)) == (NOT_ENOUGH_INFORMATION, [])


async def test_12_9_a_client_that_waits_long_hears_that_the_turn_goes_on(
    tmp_path: Path, models_dir: Path, storage: dict[str, str]
) -> None:
    async with contract_world(tmp_path / "data", models_dir, storage, heartbeat_s=0.02) as world:
        world.play(Step(["Which one?"], hold=(go_on := asyncio.Event())))
        events = []
        async for event in world.service.chat.Chat(world.request()):
            events.append(event)
            if event.WhichOneof("event") == "heartbeat":
                assert event.sequence == 0
                go_on.set()
    assert final_of(events).message == "Which one?"


async def test_12_10_a_client_that_goes_away_finds_its_turn_again(world: ContractWorld) -> None:
    world.play(Step(["Which ", "one?"], hold=(go_on := asyncio.Event())))
    running = world.service.chat.Chat(world.request())
    started = await anext(aiter(running))
    running.cancel()
    go_on.set()
    resume = chat_pb2.ResumeChatRequest(turn_id=started.turn_id, after_sequence=started.sequence)
    rest = [event async for event in world.other.chat.ResumeChat(resume)]
    assert final_of([started, *rest]).message == "Which one?"


async def test_12_11_a_client_that_keeps_the_conversation_sends_it_along(world: ContractWorld, mode: Mode) -> None:
    history = [
        chat_pb2.HistoryMessage(role=sessions_pb2.MESSAGE_ROLE_USER, content="My name is Ada."),
        chat_pb2.HistoryMessage(role=sessions_pb2.MESSAGE_ROLE_ASSISTANT, content="Good day, Ada."),
    ]
    turn = await world.ask(text("Ada?"), mode=mode, history=history)
    assert [str(m.content) for m in world.payloads[0][1:3]] == ["My name is Ada.", "Good day, Ada."]
    assert [m.content for m in turn.final.messages] == ["My name is Ada.", "Good day, Ada.", QUESTION, "Ada?"]
