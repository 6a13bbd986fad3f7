"""Random scripts of events against random readers."""

import asyncio
from dataclasses import dataclass, field

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, rule

from proviso_service.turns import DiscardReason, Event, FinalState, LoggedEvent, TextDiscarded, Token
from proviso_service.turns.log import MemoryTurnLog
from tests.turns.scripted import (
    ANN,
    QUESTION,
    TOOL_END,
    TOOL_START,
    TURN_START,
    assert_gapless,
    collect,
    completed,
    emits,
    final_of,
    read_to,
    running,
)

TOKENS = st.builds(Token, st.sampled_from("ab"), st.text(max_size=6))
OTHERS = st.sampled_from([TURN_START, TOOL_START, TOOL_END, TextDiscarded("a", DiscardReason.NOT_FINAL)])
EVENTS = st.one_of(TOKENS, TOKENS, OTHERS)
FINAL = completed().final_state
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def unjoined(events: list[Event]) -> list[Event]:
    """Adjacent tokens of one text as one: what any way of joining has in common."""
    joined: list[Event] = []
    for event in events:
        last = joined[-1] if joined else None
        if isinstance(event, Token) and isinstance(last, Token) and last.text_id == event.text_id:
            joined[-1] = Token(event.text_id, last.text + event.text)
        else:
            joined.append(event)
    return joined


@dataclass(eq=False)
class Cursor:
    start: int
    max_chars: int
    taken: list[LoggedEvent] = field(default_factory=list)

    @property
    def position(self) -> int:
        return self.taken[-1].sequence if self.taken else self.start


class LogAndCursors(RuleBasedStateMachine):
    """A log is written while cursors that start anywhere read it, each at its own speed."""

    cursors = Bundle("cursors")

    @initialize()
    def begin(self) -> None:
        self.log = MemoryTurnLog(max_events=10_000, max_bytes=1_000_000)
        self.written: list[Event] = []
        self.all_cursors: list[Cursor] = []

    @rule(events=st.lists(EVENTS, max_size=8))
    def write(self, events: list[Event]) -> None:
        for event in events:
            self.written.append(event)
            assert self.log.append(event) == len(self.written)

    @rule(target=cursors, start=st.integers(0, 50), max_chars=st.integers(1, 20))
    def attach(self, start: int, max_chars: int) -> Cursor:
        cursor = Cursor(min(start, len(self.written)), max_chars)
        self.all_cursors.append(cursor)
        return cursor

    @rule(cursor=cursors)
    def take(self, cursor: Cursor) -> None:
        logged = self.log.take(cursor.position, cursor.max_chars)
        assert (logged is None) == (cursor.position == len(self.written))
        if logged is not None:
            if isinstance(logged.event, Token) and logged.sequence > logged.first_sequence:
                assert len(logged.event.text) <= cursor.max_chars
            cursor.taken.append(logged)

    def teardown(self) -> None:
        if not hasattr(self, "log"):
            return
        self.log.end(FINAL)
        for cursor in self.all_cursors:
            while (logged := self.log.take(cursor.position, cursor.max_chars)) is not None:
                cursor.taken.append(logged)
            assert_gapless(cursor.taken, cursor.start, len(self.written) + 1)
            assert final_of(cursor.taken) is FINAL
            seen = [logged.event for logged in cursor.taken]
            assert unjoined(seen) == unjoined([*self.written[cursor.start :], FINAL])


TestLogAndCursors = LogAndCursors.TestCase
TestLogAndCursors.settings = settings(PATIENT, max_examples=40, stateful_step_count=25)


@settings(PATIENT, max_examples=40)
@given(
    # A call that has begun gets an end of its own (test_cut_calls.py).
    script=st.lists(EVENTS.filter(lambda event: event is not TOOL_START), max_size=15),
    cuts=st.lists(st.integers(1, 16), max_size=4),
)
def test_a_reader_that_is_cut_anywhere_while_the_turn_runs_misses_and_repeats_nothing(
    script: list[Event], cuts: list[int]
) -> None:
    async def scenario() -> None:
        async with running(emits(*script)) as turns:
            turn_id = await turns.start(ANN, QUESTION)
            events: list[LoggedEvent] = []
            for cut in sorted(cuts):
                position = events[-1].sequence if events else 0
                if position < cut <= len(script):
                    events += await read_to(turns, turn_id, cut, position)
            events += await collect(turns, turn_id, events[-1].sequence if events else 0)
            assert_gapless(events, 0, len(script) + 1)
            seen: list[Event] = [logged.event for logged in events]
            assert isinstance(seen.pop(), FinalState)
            assert unjoined(seen) == unjoined(script)

    asyncio.run(scenario())
