"""Behavioural contract, section 3: retrieval."""

import pytest
from langchain_core.messages import AIMessage, SystemMessage, ToolMessage

from proviso_service.turns import CAUSE_SEMANTICS, NOT_ENOUGH_INFORMATION, ExitCause, ExitReason
from tests.support.contract_world import GROUNDED, LIST, RETRIEVE_NOTHING, SEARCH, ContractWorld, Mode
from tests.support.scripted_model import Call, calls, text

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_3_1_the_model_is_told_to_look_first_and_has_the_tools_at_every_call(
    world: ContractWorld, mode: Mode
) -> None:
    await world.ask(calls(SEARCH), text(GROUNDED), mode=mode)
    prompt = world.payloads[0][0]
    assert isinstance(prompt, SystemMessage)
    assert "For any question about the content of documents, look it up first." in str(prompt.content)
    assert all({"isaacus_search", "isaacus_extract"} <= set(offered) for offered in world.model.tools_seen)


async def test_3_2_an_answer_with_facts_that_were_not_looked_up_is_refused(world: ContractWorld, mode: Mode) -> None:
    made_up = text("The cap is USD 5,000.")
    turn = await world.ask(made_up, made_up, mode=mode)
    assert turn.reason is ExitReason.LLM_GENERATION_FAILURE
    assert turn.final.message == CAUSE_SEMANTICS[ExitCause.UNGROUNDED].message
    assert turn.of_kind("token") == turn.discarded == []


async def test_3_3_the_model_is_told_the_sentence_for_what_it_did_not_find(world: ContractWorld) -> None:
    await world.ask(text(NOT_ENOUGH_INFORMATION))
    told = f'When nothing you found answers the question, say exactly: "{NOT_ENOUGH_INFORMATION}"'
    assert told in str(world.payloads[0][0].content)
    assert NOT_ENOUGH_INFORMATION == "I don't have enough information in the current documentation to answer that."


async def test_3_4_documentation_that_holds_nothing_is_told_in_exact_words_and_grounds_no_answer(
    world: ContractWorld, mode: Mode
) -> None:
    turn = await world.ask(calls(RETRIEVE_NOTHING), text("Everyone has ninety days of it."), mode=mode)
    (end,) = turn.of_kind("tool_end")
    assert end.output == world.payloads[1][-1].content == "DOCUMENTATION_SEARCH_RESULT: EMPTY"
    assert (turn.reason, turn.final.message) == (ExitReason.LLM_GENERATION_FAILURE, NOT_ENOUGH_INFORMATION)
    assert turn.of_kind("token") == turn.discarded == []


async def test_3_5_an_empty_result_goes_back_to_the_model(world: ContractWorld, mode: Mode) -> None:
    turn = await world.ask(calls(SEARCH), text(NOT_ENOUGH_INFORMATION), mode=mode, matter_id=world.empty_matter_id)
    asked, answer = world.payloads[1][-2:]
    assert isinstance(asked, AIMessage)
    assert isinstance(answer, ToolMessage)
    assert answer.content == turn.of_kind("tool_end")[0].output


async def test_3_6_retrieval_that_finds_nothing_ends_in_generation_failure(world: ContractWorld, mode: Mode) -> None:
    turn = await world.ask(calls(SEARCH), text(NOT_ENOUGH_INFORMATION), mode=mode, matter_id=world.empty_matter_id)
    assert (turn.reason, turn.final.tool_calls) == (ExitReason.LLM_GENERATION_FAILURE, 1)


async def test_3_7_a_retrieval_that_finds_something_later_grounds_the_answer(world: ContractWorld, mode: Mode) -> None:
    nothing = '{"query": "zebra crossings", "threshold": 1, "semantic_weight": 1}'
    turn = await world.ask(calls(Call("isaacus_search", nothing)), calls(SEARCH), text(GROUNDED), mode=mode)
    assert turn.reason is ExitReason.COMPLETED


async def test_3_8_after_an_empty_retrieval_the_person_reads_that_there_is_too_little(
    world: ContractWorld, mode: Mode
) -> None:
    turn = await world.ask(calls(SEARCH), text("The law of ", "Oregon."), mode=mode, matter_id=world.empty_matter_id)
    assert (turn.final.message, turn.final.display_message) == (NOT_ENOUGH_INFORMATION, True)
    assert turn.of_kind("token") == turn.discarded == []


async def test_3_9_an_empty_list_is_an_answer(world: ContractWorld, mode: Mode) -> None:
    turn = await world.ask(calls(LIST), text("There are no documents."), mode=mode, matter_id=world.empty_matter_id)
    assert (turn.reason, turn.final.message) == (ExitReason.COMPLETED, "There are no documents.")
