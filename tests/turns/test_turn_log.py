import asyncio

import pytest

from proviso_service.turns import (
    DiscardReason,
    ExitReason,
    FinalState,
    Retryable,
    TextDiscarded,
    Token,
    ToolEnd,
    TurnLogFull,
    TurnLogSealed,
)
from proviso_service.turns.log import MemoryTurnLog
from tests.turns.scripted import TOOL_START, TURN_START

FINAL = FinalState(ExitReason.COMPLETED, Retryable.NOT_APPLICABLE, True, "Thirty days.")
MANY_CHARS = 1_000
CLOCK_STEP_S = 0.001
"""A timer of the event loop may end so much before its time."""


def new_log(max_events: int = 100, max_bytes: int = 10_000) -> MemoryTurnLog:
    ticks = iter(range(1_000_000))
    return MemoryTurnLog(max_events, max_bytes, clock=lambda: float(next(ticks)))


def test_sequences_count_from_one_and_carry_the_time_of_their_event() -> None:
    log = new_log()
    assert log.last_sequence == 0
    assert [log.append(TURN_START), log.append(Token("a", "x")), log.end(FINAL)] == [1, 2, 3]
    taken = [log.take(after, MANY_CHARS) for after in range(3)]
    assert [(t.first_sequence, t.sequence, t.emit_time_s) for t in taken if t] == [(1, 1, 0), (2, 2, 1), (3, 3, 2)]
    assert log.take(3, MANY_CHARS) is None


def test_waiting_tokens_of_one_text_are_joined_and_nothing_else() -> None:
    log = new_log()
    for event in (
        Token("a", "one "),
        Token("a", "two "),
        Token("b", "three "),
        TOOL_START,
        TOOL_START,
        Token("b", "four "),
        TextDiscarded("b", DiscardReason.NOT_FINAL),
        Token("b", "five"),
    ):
        log.append(event)
    joined = log.take(0, MANY_CHARS)
    assert joined is not None
    assert (joined.first_sequence, joined.sequence, joined.event) == (1, 2, Token("a", "one two "))
    assert joined.emit_time_s == 1
    ranges = []
    after = 0
    while (logged := log.take(after, MANY_CHARS)) is not None:
        ranges.append((logged.first_sequence, logged.sequence))
        after = logged.sequence
    assert ranges == [(1, 2), (3, 3), (4, 4), (5, 5), (6, 6), (7, 7), (8, 8)]


def test_a_reader_may_start_inside_a_run_of_tokens() -> None:
    log = new_log()
    for text in ("one ", "two ", "three"):
        log.append(Token("a", text))
    taken = log.take(1, MANY_CHARS)
    assert taken is not None
    assert (taken.first_sequence, taken.sequence, taken.event) == (2, 3, Token("a", "two three"))


def test_joined_text_is_bounded_and_a_single_longer_token_comes_whole() -> None:
    log = new_log()
    for text in ("123", "456", "78", "a token of more than eight"):
        log.append(Token("a", text))
    taken = [log.take(after, 8) for after in (0, 3)]
    assert [t.event for t in taken if t] == [Token("a", "12345678"), Token("a", "a token of more than eight")]
    shorter = log.take(0, 7)
    assert shorter is not None
    assert shorter.sequence == 2


def test_a_full_log_takes_no_more_events_but_its_final_state() -> None:
    log = new_log(max_events=2)
    log.append(TURN_START)
    log.append(TOOL_START)
    overflowed_at_the_bound = log.overflowed
    with pytest.raises(TurnLogFull):
        log.append(Token("a", ""))
    assert (overflowed_at_the_bound, log.overflowed) == (False, True)
    assert log.last_sequence == 2
    assert log.end(FINAL) == 3
    assert log.final_state is FINAL


def test_the_bound_of_bytes_counts_utf8_of_all_text_and_stays_reached() -> None:
    log = new_log(max_bytes=100)
    log.append(Token("a", "§" * 30))
    with pytest.raises(TurnLogFull):
        log.append(ToolEnd("call", "search", "x" * 20, "y" * 20, False, "", 0.0))
    with pytest.raises(TurnLogFull):
        log.append(Token("a", "x"))
    assert log.last_sequence == 1


def test_text_that_is_no_valid_unicode_is_counted_too() -> None:
    assert new_log().append(Token("a", "\ud800")) == 1


def test_only_the_end_takes_a_final_state_and_takes_one() -> None:
    log = new_log()
    with pytest.raises(TypeError):
        log.append(FINAL)
    log.end(FINAL)
    with pytest.raises(TurnLogSealed):
        log.end(FINAL)
    with pytest.raises(TurnLogSealed):
        log.append(TURN_START)
    assert log.last_sequence == 1


def test_what_is_no_event_is_refused() -> None:
    with pytest.raises(TypeError):
        new_log().append("token")  # type: ignore[arg-type]


def test_a_sealed_log_keeps_the_next_sequence_for_the_final_state() -> None:
    log = new_log()
    log.append(TURN_START)
    log.seal()
    with pytest.raises(TurnLogSealed):
        log.append(Token("a", "late"))
    assert log.end(FINAL) == 2


async def test_every_waiter_wakes_at_the_next_event() -> None:
    log = new_log()
    waiting = [asyncio.create_task(log.wait(0, timeout_s=60)) for _ in range(8)]
    await asyncio.sleep(0)
    log.append(TURN_START)
    assert await asyncio.gather(*waiting) == [True] * 8
    assert await log.wait(0, timeout_s=60)


async def test_a_wait_in_silence_ends_in_false() -> None:
    assert not await new_log().wait(0, timeout_s=0.005)


async def test_a_cancelled_waiter_keeps_no_other_from_waking() -> None:
    log = new_log()
    leaving, staying = (asyncio.create_task(log.wait(0, timeout_s=60)) for _ in range(2))
    await asyncio.sleep(0)
    leaving.cancel()
    log.append(TURN_START)
    assert await staying
    with pytest.raises(asyncio.CancelledError):
        await leaving


async def test_waiters_of_different_patience_each_wait_their_own_time() -> None:
    log, loop = new_log(), asyncio.get_running_loop()
    began = loop.time()

    async def wait(timeout_s: float) -> tuple[bool, float]:
        return await log.wait(0, timeout_s), loop.time() - began

    patient, hasty = await asyncio.gather(wait(0.03), wait(0.01))
    assert (patient[0], hasty[0]) == (False, False)
    assert hasty[1] < patient[1]
    assert (patient[1] >= 0.03 - CLOCK_STEP_S, hasty[1] >= 0.01 - CLOCK_STEP_S) == (True, True)


async def test_a_waiter_that_comes_after_others_were_woken_waits_its_full_time() -> None:
    log, loop = new_log(), asyncio.get_running_loop()
    first = asyncio.create_task(log.wait(0, timeout_s=0.2))
    await asyncio.sleep(0.05)
    log.append(TURN_START)
    assert await first
    began = loop.time()
    assert not await log.wait(1, timeout_s=0.2)
    assert loop.time() - began >= 0.2 - CLOCK_STEP_S


async def test_the_final_state_wakes_those_who_wait() -> None:
    log = new_log()
    waiting = asyncio.create_task(log.wait(0, timeout_s=60))
    await asyncio.sleep(0)
    log.end(FINAL)
    assert await waiting


async def test_tokens_gather_until_their_time_is_over_or_something_else_comes() -> None:
    loop = asyncio.get_running_loop()
    log = new_log()
    log.append(TURN_START)
    log.append(Token("a", "one "))
    began = loop.time()
    await log.gather(0, timeout_s=60)  # the start lies there
    gathering = asyncio.create_task(log.gather(1, timeout_s=60))
    await asyncio.sleep(0)
    log.append(Token("a", "two "))
    await asyncio.sleep(0)
    assert not gathering.done()
    log.append(TOOL_START)
    await gathering
    assert loop.time() - began < 30
    await log.gather(log.last_sequence, timeout_s=0.01)
    assert loop.time() - began >= 0.01
    log.end(FINAL)
    await log.gather(0, timeout_s=60)
