"""A process renews the leases of its running turns and closes those of processes that are gone."""

import asyncio

import pytest

from proviso_service.turns.store import LeaseKeeper
from tests.turns.memory_turn_store import MemoryTurnStore
from tests.turns.scripted import ANN, QUESTION, Gated, running

LEASE_S = 0.03


async def test_opening_closes_what_an_earlier_life_of_this_process_left() -> None:
    store = MemoryTurnStore()
    async with running(Gated(), store):
        assert store.closed_for == ["replica-1"]


async def test_opening_fails_when_the_store_does() -> None:
    store = MemoryTurnStore()
    store.failures["close_interrupted"] = [OSError("gone")]
    keeper = LeaseKeeper(store, "replica-1", LEASE_S, list)
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
        await store.calls("close_interrupted", 2)
        assert store.rows[turn_id].renewals == renewals


async def test_once_a_lease_after_three_renewals_only_turns_whose_lease_has_run_out_are_closed() -> None:
    store = MemoryTurnStore()
    await store.begin(ANN, "turn-1", QUESTION, "", "replica-1", LEASE_S)
    keeper = LeaseKeeper(store, "replica-1", LEASE_S, lambda: ["turn-1"])
    await keeper.open()
    await store.calls("close_interrupted", 2)
    await keeper.close()
    assert store.closed_for == ["replica-1", "", ""]
    assert store.rows["turn-1"].renewals == 6


async def test_a_store_that_fails_for_a_while_does_not_end_the_keeping_of_leases(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = MemoryTurnStore()
    async with running(Gated(), store, lease_s=LEASE_S) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        store.failures = {"renew": [OSError("gone")], "close_interrupted": [OSError("gone")]}
        await store.calls("close_interrupted", 2)
        assert store.rows[turn_id].renewals >= 1
        assert store.failures == {"renew": [], "close_interrupted": []}
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
