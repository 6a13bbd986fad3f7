"""A process renews the leases of its running turns and takes over those of processes that are gone."""

import asyncio

import pytest

from proviso_service.turns import TurnRecord
from proviso_service.turns.store import LeaseKeeper
from tests.turns.memory_turn_store import MemoryTurnStore
from tests.turns.scripted import ANN, QUESTION, Gated, running

LEASE_S = 0.03


async def test_opening_takes_over_what_an_earlier_life_of_this_process_left() -> None:
    store = MemoryTurnStore()
    async with running(Gated(), store):
        assert store.asked_for == [("replica-1", True)]


def keeper_of(store: MemoryTurnStore, running: list[str], *, room: int = 10) -> tuple[LeaseKeeper, list[str]]:
    """A keeper, and what it goes on with or loses."""
    told: list[str] = []

    async def go_on(record: TurnRecord) -> None:
        told.append(f"goes on with {record.turn_id}")

    def lose(turn_id: str) -> None:
        told.append(f"loses {turn_id}")
        running.remove(turn_id)

    keeper = LeaseKeeper(
        *(store, "replica-1", LEASE_S, lambda: list(running)),
        room=lambda: room,
        max_events=50,
        go_on=go_on,
        lose=lose,
    )
    return keeper, told


async def test_opening_fails_when_the_store_does() -> None:
    store = MemoryTurnStore()
    store.failures["take_over"] = [OSError("gone")]
    keeper, _ = keeper_of(store, [])
    with pytest.raises(OSError, match="gone"):
        await keeper.open()
    await keeper.close()


async def test_running_turns_are_renewed_three_times_a_lease_and_ended_ones_are_not() -> None:
    store, program = MemoryTurnStore(), Gated()
    async with running(program, store, lease_s=LEASE_S) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        await store.calls("renew", 3)
        renewals = store.rows[turn_id].renewals
        assert renewals >= 2
        program.gate.set()
        await turns.wait(ANN, turn_id)
        renewals = store.rows[turn_id].renewals
        await store.calls("take_over", 2)
        assert store.rows[turn_id].renewals == renewals


async def test_once_a_lease_after_three_renewals_turns_that_nobody_runs_are_taken_over() -> None:
    store = MemoryTurnStore()
    for turn_id, owner in (("turn-1", "replica-1"), ("turn-2", "replica-2"), ("turn-3", "replica-2")):
        await store.begin(ANN, turn_id, QUESTION, "", owner, LEASE_S)
    keeper, told = keeper_of(store, ["turn-1"], room=1)
    await keeper.open()
    for turn_id in ("turn-2", "turn-3"):
        store.rows[turn_id].is_abandoned = True
    await store.calls("take_over", 1)
    await keeper.close()
    assert store.asked_for == [("replica-1", True), ("replica-1", False)]
    assert told == ["goes on with turn-2"], "as many as there is room for"
    assert store.rows["turn-1"].renewals == 3
    assert store.rows["turn-2"].record.last_sequence == 50


async def test_no_turn_is_taken_over_where_there_is_no_room() -> None:
    store = MemoryTurnStore()
    keeper, _ = keeper_of(store, [], room=0)
    await keeper.open()
    await keeper.close()
    assert store.asked_for == []


async def test_a_turn_that_another_process_has_taken_is_lost() -> None:
    store = MemoryTurnStore()
    await store.begin(ANN, "turn-1", QUESTION, "", "replica-2", LEASE_S)
    keeper, told = keeper_of(store, ["turn-1"])
    await keeper.open()
    await store.calls("renew", 1)
    await store.calls("take_over", 1)
    await keeper.close()
    assert told == ["loses turn-1"]


async def test_a_store_that_fails_for_a_while_does_not_end_the_keeping_of_leases(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = MemoryTurnStore()
    async with running(Gated(), store, lease_s=LEASE_S) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        store.failures = {"renew": [OSError("gone")], "take_over": [OSError("gone")]}
        await store.calls("take_over", 2)
        assert store.rows[turn_id].renewals >= 1
        assert store.failures == {"renew": [], "take_over": []}
        assert "turn leases could not be kept" in caplog.text


async def test_a_store_that_hangs_is_given_up_on_within_a_round() -> None:
    store = MemoryTurnStore()
    async with running(Gated(), store, lease_s=LEASE_S) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        store.gates["renew"] = asyncio.Event()
        await store.calls("renew", 2)
        store.gates["renew"].set()
        await store.calls("renew", 2)
        assert store.rows[turn_id].renewals >= 1
