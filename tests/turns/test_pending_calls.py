"""What a turn waits for, whatever order decisions come in."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from proviso_service.context.model import ItemRef, ItemType
from proviso_service.turns import AskedCall, Decision
from proviso_service.turns.approvals import PendingCalls

MOMENT = datetime(2026, 1, 2, tzinfo=UTC)

TOOLS = st.lists(st.sampled_from("abc"), min_size=1, max_size=6)
ANSWERS = st.lists(st.tuples(st.integers(0, 7), st.sampled_from(Decision)), max_size=12)


def pending_calls(tools: list[str]) -> PendingCalls:
    calls = [AskedCall(f"call-{n}", tool, ItemRef(ItemType.TOOL, tool, "server"), "{}") for n, tool in enumerate(tools)]
    return PendingCalls(calls, MOMENT)


def answer(pending: PendingCalls, call_id: str, decision: Decision) -> tuple[int, ...]:
    positions = pending.decided_by(call_id, decision)
    pending.record(positions, decision)
    return positions


@given(TOOLS, ANSWERS)
async def test_the_first_decision_on_a_call_holds_and_one_for_the_session_is_on_all_calls_of_its_tool(
    tools: list[str], answers: list[tuple[int, Decision]]
) -> None:
    pending, expected = pending_calls(tools), dict.fromkeys(range(len(tools)))
    known: dict[int, Decision | None] = dict(expected)
    for number, decision in answers:
        positions = answer(pending, f"call-{number}", decision)
        if known.get(number, decision) is not None:
            assert positions == (), "decided before, or no such call"
            continue
        for other, tool in enumerate(tools):
            same_tool = decision is Decision.APPROVE_FOR_SESSION and tool == tools[number]
            if known[other] is None and (other == number or same_tool):
                known[other] = decision
        assert number in positions
    assert pending.decisions == {f"call-{n}": decision for n, decision in known.items()}
    assert [asked.call_id for asked in pending.asked] == [f"call-{n}" for n, d in known.items() if d is None]
    assert pending.all_decided.is_set() == (None not in known.values())


@given(TOOLS, ANSWERS, st.integers(0, 12))
async def test_decisions_kept_over_a_restart_are_the_same_as_those_without_one(
    tools: list[str], answers: list[tuple[int, Decision]], restart_at: int
) -> None:
    whole, restarted = pending_calls(tools), pending_calls(tools)
    for position, (number, decision) in enumerate(answers):
        if position == restart_at:
            kept = tuple(restarted.decisions.values())
            restarted = PendingCalls(restarted.calls, MOMENT, kept)
        assert answer(whole, f"call-{number}", decision) == answer(restarted, f"call-{number}", decision)
    assert whole.decisions == restarted.decisions
    assert whole.all_decided.is_set() == restarted.all_decided.is_set()
