"""Behavioural contract, section 8: caches."""

from typing import Any

import pytest

from proviso_client.v1 import chat_pb2, matters_pb2, sessions_pb2
from proviso_service.turns import NOT_ENOUGH_INFORMATION, ExitReason
from tests.support.contract_world import (
    EXTRACT,
    GROUNDED,
    OTHER_MODEL,
    RETRIEVE,
    RETRIEVE_NOTHING,
    SEARCH,
    ContractWorld,
    Mode,
)
from tests.support.final_states import comparable
from tests.support.scripted_model import Call, calls, text

pytestmark = pytest.mark.asyncio(loop_scope="module")

REORDERED = Call("isaacus_search", '{"max_results": 5, "query": "governing law"}')
OTHER_QUERY = Call("isaacus_search", '{"query": "governed by the laws"}')
OTHER_SETTINGS = Call("isaacus_search", '{"query": "governing law", "semantic_weight": 0.25}')
SEARCH_NOTHING = Call("isaacus_search", '{"query": "zebra crossings", "threshold": 1, "semantic_weight": 1}')

HISTORY = [
    chat_pb2.HistoryMessage(role=sessions_pb2.MESSAGE_ROLE_USER, content="Hello"),
    chat_pb2.HistoryMessage(role=sessions_pb2.MESSAGE_ROLE_ASSISTANT, content="Good day."),
]


@pytest.mark.parametrize(
    ("wanted", "again", "is_kept"),
    [
        pytest.param(SEARCH, SEARCH, True, id="search"),
        pytest.param(EXTRACT, EXTRACT, True, id="extract"),
        pytest.param(RETRIEVE, RETRIEVE, True, id="retriever"),
        pytest.param(SEARCH, REORDERED, True, id="the same in another order"),
        pytest.param(SEARCH, OTHER_QUERY, False, id="another query"),
        pytest.param(SEARCH, OTHER_SETTINGS, False, id="other settings"),
    ],
)
async def test_8_1_a_retrieval_is_kept_by_its_query_and_settings(
    world: ContractWorld, mode: Mode, new_matter: str, wanted: Call, again: Call, is_kept: bool
) -> None:
    for message, call in {"Which one?": wanted, "And which now?": again}.items():
        turn = await world.ask(
            calls(call), text("Which do you mean?"), message=message, mode=mode, matter_id=new_matter, cached=True
        )
    assert [end.from_cache for end in turn.of_kind("tool_end")] == [is_kept]


@pytest.mark.parametrize("wanted", [RETRIEVE_NOTHING, SEARCH_NOTHING], ids=["retriever", "search"])
async def test_8_2_an_empty_result_is_not_kept(world: ContractWorld, mode: Mode, new_matter: str, wanted: Call) -> None:
    for message in ("Which one?", "And which now?"):
        turn = await world.ask(
            calls(wanted), text(NOT_ENOUGH_INFORMATION), message=message, mode=mode, matter_id=new_matter, cached=True
        )
        assert turn.reason is ExitReason.LLM_GENERATION_FAILURE
        assert [end.from_cache for end in turn.of_kind("tool_end")] == [False]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"options": {"model": OTHER_MODEL}}, id="model"),
        pytest.param({"message": "Which law governs the  agreement?"}, id="message"),
        pytest.param({"history": HISTORY}, id="history"),
        pytest.param({"options": {"max_turns": 5}}, id="limits"),
    ],
)
async def test_8_3_a_reply_is_kept_by_its_model_and_the_whole_payload(
    world: ContractWorld, mode: Mode, new_matter: str, other: dict[str, Any]
) -> None:
    asked: dict[str, Any] = {"mode": mode, "matter_id": new_matter, "cached": True}
    await world.ask(text("Which one?"), **asked)
    differs = await world.ask(text("Which one, then?"), **asked, **other)
    same = await world.ask(**asked)
    assert (differs.final.message, differs.final.from_cache) == ("Which one, then?", False)
    assert (same.final.message, same.final.from_cache) == ("Which one?", True)


@pytest.mark.parametrize("reader", Mode)
async def test_8_4_both_modes_keep_replies_for_both(
    world: ContractWorld, mode: Mode, new_matter: str, reader: Mode
) -> None:
    await world.ask(text("Which one?"), mode=mode, matter_id=new_matter, cached=True)
    turn = await world.ask(mode=reader, matter_id=new_matter, cached=True)
    assert (turn.final.message, turn.final.from_cache) == ("Which one?", True)


async def test_8_5_a_kept_reply_comes_to_the_same_final_state_without_tokens(
    world: ContractWorld, mode: Mode, new_matter: str
) -> None:
    first = await world.ask(calls(SEARCH), text(GROUNDED), mode=mode, matter_id=new_matter, cached=True)
    again = await world.ask(mode=mode, matter_id=new_matter, cached=True)
    assert ("token" in first.kinds, "token" in again.kinds) == (True, False)
    assert uncounted(again.final) == uncounted(first.final)


def uncounted(final: chat_pb2.FinalState) -> chat_pb2.FinalState:
    """Without what was paid, and whether it was."""
    state = comparable(final)
    state.ClearField("usage")
    state.ClearField("from_cache")
    for record in state.tool_call_records:
        record.ClearField("from_cache")
    return state


async def test_8_14_nothing_that_was_kept_of_a_deleted_document_is_given_out(
    world: ContractWorld, mode: Mode, new_matter: str
) -> None:
    await world.ask(calls(SEARCH), text(GROUNDED), mode=mode, matter_id=new_matter, cached=True)
    (agreement,) = await world.other.wait_until_ready(new_matter)
    await world.other.matters.DeleteDocument(
        matters_pb2.DeleteDocumentRequest(matter_id=new_matter, document_id=agreement.document_id)
    )
    turn = await world.ask(calls(SEARCH), text(GROUNDED), mode=mode, matter_id=new_matter, cached=True)
    assert (turn.reason, turn.final.message) == (ExitReason.LLM_GENERATION_FAILURE, NOT_ENOUGH_INFORMATION)
    assert "Oregon" not in str(turn.of_kind("tool_end"))
