"""A repeated request_id attaches to the turn that it began."""

import asyncio
from dataclasses import replace

import pytest

from proviso_service.context.model import DocumentSummary, MatterContext
from proviso_service.errors import Draining, RequestIdReused, TooBusy
from proviso_service.turns import ExitReason, HistoryMessage, MessageRole, OnDisconnect, TurnOptions, TurnRequest
from proviso_service.turns.program import payload_sha256
from tests.turns.memory_turn_store import MemoryTurnStore
from tests.turns.scripted import ANN, BEN, TURN_START, Gated, collect, emits, final_of, running

REQUEST = TurnRequest(message="What is the notice period?", request_id="r-1", session_id="lease")


async def test_a_repeated_request_attaches_to_the_running_turn() -> None:
    program = Gated()
    store = MemoryTurnStore()
    async with running(program, store) as turns:
        first = await turns.start(ANN, REQUEST)
        assert await turns.start(ANN, replace(REQUEST, on_disconnect=OnDisconnect.CANCEL)) == first
        readings = [asyncio.create_task(collect(turns, first)) for _ in range(2)]
        program.gate.set()
        once, again = await asyncio.gather(*readings)
        assert once == again
        assert len(store.rows) == 1
        assert turns.running == 0


async def test_requests_repeated_while_the_first_is_being_registered_attach_to_it() -> None:
    store = MemoryTurnStore()
    store.gates["begin"] = asyncio.Event()
    async with running(emits(TURN_START), store) as turns:
        starting = [asyncio.create_task(turns.start(ANN, REQUEST)) for _ in range(5)]
        await store.reached["begin"].wait()
        store.gates["begin"].set()
        turn_ids = await asyncio.gather(*starting)
        assert len(set(turn_ids)) == 1
        final_of(await collect(turns, turn_ids[0]))
        assert len(store.finished) == 1


async def test_a_request_repeated_after_the_end_reads_the_kept_events() -> None:
    async with running(emits(TURN_START)) as turns:
        turn_id = await turns.start(ANN, REQUEST)
        events = await collect(turns, turn_id)
        assert await collect(turns, await turns.start(ANN, REQUEST)) == events


async def test_a_request_repeated_after_its_events_are_gone_gets_the_stored_end() -> None:
    async with running(emits(TURN_START), kept_bytes=0) as turns:
        turn_id = await turns.start(ANN, REQUEST)
        final = await turns.wait(ANN, turn_id)
        await turns.wait(BEN, await turns.start(BEN, REQUEST))
        await asyncio.sleep(0)
        assert await turns.start(ANN, REQUEST) == turn_id
        assert [event.event for event in await collect(turns, turn_id)] == [final]
        assert await turns.wait(ANN, turn_id) == final


async def test_another_payload_under_the_same_id_is_refused() -> None:
    async with running(emits(TURN_START)) as turns:
        await turns.start(ANN, REQUEST)
        with pytest.raises(RequestIdReused):
            await turns.start(ANN, replace(REQUEST, message="What is the fee?"))


async def test_another_caller_s_equal_id_begins_a_turn_of_its_own() -> None:
    async with running(emits(TURN_START)) as turns:
        assert await turns.start(ANN, REQUEST) != await turns.start(BEN, REQUEST)


async def test_requests_without_an_id_never_attach() -> None:
    async with running(emits(TURN_START)) as turns:
        request = TurnRequest(message="Hello?")
        assert await turns.start(ANN, request) != await turns.start(ANN, request)


def test_the_hash_of_a_payload_leaves_out_its_id_and_how_it_is_fetched() -> None:
    assert payload_sha256(REQUEST) == payload_sha256(
        replace(REQUEST, request_id="r-2", on_disconnect=OnDisconnect.CONTINUE)
    )


def test_the_hash_of_a_payload_is_the_same_in_every_release() -> None:
    assert payload_sha256(TurnRequest(message="Hello?", session_id="s"))[:12] == "f7a9936c0da6"


@pytest.mark.parametrize(
    "change",
    [
        {"message": "What is the notice period? "},
        {"session_id": "other"},
        {"matter_context": MatterContext("m-1")},
        {"image_urls": ("https://example.com/a.png",)},
        {"document_context": (DocumentSummary("a.pdf", "pdf", "A lease."),)},
        {"history": (HistoryMessage(MessageRole.USER, "Hello"),)},
        {"options": TurnOptions(max_turns=2)},
        {"message": "\ud800"},
    ],
)
def test_the_hash_of_a_payload_covers_everything_else(change: dict[str, object]) -> None:
    changed = replace(REQUEST, **change)  # type: ignore[arg-type]
    assert payload_sha256(changed) != payload_sha256(REQUEST)


async def test_a_request_repeated_when_no_turn_can_be_started_finds_the_turn_it_began() -> None:
    program = Gated()
    async with running(program, max_running=1) as turns:
        turn_id = await turns.start(ANN, REQUEST)
        with pytest.raises(TooBusy):
            await turns.start(ANN, replace(REQUEST, request_id="r-2"))
        assert await turns.start(ANN, REQUEST) == turn_id
        with pytest.raises(RequestIdReused):
            await turns.start(ANN, replace(REQUEST, message="What is the fee?"))
        draining = asyncio.create_task(turns.drain(5))
        await asyncio.sleep(0)
        with pytest.raises(Draining):
            await turns.start(BEN, REQUEST)
        async with turns.start_attached(ANN, REQUEST) as found:
            assert found == turn_id
            program.gate.set()
            assert final_of(await collect(turns, found)).exit_reason is ExitReason.COMPLETED
        await draining
