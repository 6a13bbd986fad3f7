"""Whatever persons decide, in whatever order, and however often the service is restarted meanwhile."""

from contextlib import suppress
from dataclasses import dataclass, field, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from proviso_service.context.model import ApprovedTool, ItemRef, ItemType
from proviso_service.errors import TurnNotWaiting
from proviso_service.turns import AskedCall, Decision, ExitReason, TurnOutcome, Turns, TurnState
from tests.turns.memory_turn_store import MemoryTurnStore
from tests.turns.scripted import (
    ANN,
    ASKED,
    QUESTION,
    TURN_START,
    Program,
    ScriptedExecution,
    assert_gapless,
    collect,
    completed,
    read_to,
    running,
)

SEND = AskedCall("call-3", "send", ItemRef(ItemType.TOOL, "send", "mail"), "{}")
CALLS = (ASKED, replace(ASKED, call_id="call-2"), SEND)
ASKED_AT = 1 + len(CALLS)


@dataclass(frozen=True)
class Decides:
    call: AskedCall
    decision: Decision


LIVES = st.lists(
    st.lists(st.builds(Decides, st.sampled_from(CALLS), st.sampled_from(Decision)), max_size=3), min_size=1, max_size=4
)
"""What persons decide, in each life of the service."""


async def asks(execution: ScriptedExecution) -> TurnOutcome:
    async def suspend() -> str:
        return "asked"

    if not execution.state:
        execution.emit(TURN_START)
    decisions = await execution.approvals.decide(CALLS, suspend)
    execution.emit(TURN_START)
    return completed(str(sorted(decisions.items())))


@dataclass
class Expected:
    """What holds of the calls; the first decision on each counts."""

    decisions: dict[str, Decision | None] = field(default_factory=lambda: dict.fromkeys(call.call_id for call in CALLS))

    @property
    def undecided(self) -> list[str]:
        return [call_id for call_id, decision in self.decisions.items() if decision is None]

    def decide(self, step: Decides) -> bool:
        """Whether the decision is accepted: it is the first, or the same again."""
        if (known := self.decisions[step.call.call_id]) is not None:
            return known is step.decision
        for call in CALLS:
            same_tool = step.decision is Decision.APPROVE_FOR_SESSION and call.ref == step.call.ref
            if self.decisions[call.call_id] is None and (call is step.call or same_tool):
                self.decisions[call.call_id] = step.decision
        return True


@settings(max_examples=60)
@given(LIVES, st.booleans())
async def test_decisions_hold_over_restarts_and_nothing_else_moves_the_turn(
    lives: list[list[Decides]], is_cancelled: bool
) -> None:
    store, expected = MemoryTurnStore(), Expected()
    async with running(Program(asks), store) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        await read_to(turns, turn_id, ASKED_AT)
    for decisions in lives:
        async with running(Program(asks), store) as turns:
            for decides in decisions:
                await _decide(turns, turn_id, decides, expected)
            record = await turns.get(ANN, turn_id)
            assert [asked.call_id for asked in record.pending_approvals] == expected.undecided
            if not expected.undecided:
                break
            assert record.state is TurnState.AWAITING_APPROVAL
    async with running(Program(asks), store) as turns:
        if expected.undecided:
            await _end(turns, turn_id, expected, is_cancelled=is_cancelled)
    (outcome,) = store.finished
    if expected.undecided:
        assert outcome.final_state.exit_reason is ExitReason.CANCELLED
    approved = [call for call in CALLS if expected.decisions[call.call_id] is Decision.APPROVE_FOR_SESSION]
    for_session = {ApprovedTool.of(call.ref, call.sha256) for call in approved}
    assert set(store.approved) == for_session


async def _decide(turns: Turns, turn_id: str, decides: Decides, expected: Expected) -> None:
    if not expected.undecided:
        return
    accepted = False
    with suppress(TurnNotWaiting):
        await turns.decide(ANN, turn_id, decides.call.call_id, decides.decision)
        accepted = True
    assert accepted == expected.decide(decides)
    if not expected.undecided:
        await _check_answer(turns, turn_id, expected)


async def _end(turns: Turns, turn_id: str, expected: Expected, *, is_cancelled: bool) -> None:
    if is_cancelled:
        assert await turns.cancel(ANN, turn_id)
        return
    for call in CALLS:
        if call.call_id in expected.undecided:
            await _decide(turns, turn_id, Decides(call, Decision.DENY), expected)


async def _check_answer(turns: Turns, turn_id: str, expected: Expected) -> None:
    assert_gapless(await collect(turns, turn_id), 0, ASKED_AT + 2)
    assert (await turns.wait(ANN, turn_id)).message == str(sorted(expected.decisions.items()))
