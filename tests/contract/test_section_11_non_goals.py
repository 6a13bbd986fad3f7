"""Behavioural contract, section 11: failure modes and non-goals."""

import pytest

from proviso_service.turns import CAUSE_SEMANTICS, NOT_ENOUGH_INFORMATION, ExitCause, ExitReason
from tests.support.contract_world import INVENTED, QUESTION, SEARCH, ContractWorld, Mode
from tests.support.scripted_model import calls, text

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def prompt_of(world: ContractWorld) -> str:
    await world.ask(text("Which one?"))
    return str(world.payloads[0][0].content)


async def test_11_1_the_agent_says_that_it_does_not_know_rather_than_guess(world: ContractWorld, mode: Mode) -> None:
    turn = await world.ask(calls(SEARCH), text(NOT_ENOUGH_INFORMATION), mode=mode, message="Who won the cup?")
    assert (turn.reason, turn.final.message) == (ExitReason.COMPLETED, NOT_ENOUGH_INFORMATION)
    assert not turn.final.citations
    assert "Never guess" in str(world.payloads[0][0].content)


async def test_11_2_the_model_is_told_not_to_chat(world: ContractWorld) -> None:
    assert "You do not chat about other subjects and you give no legal advice." in await prompt_of(world)


async def test_11_3_a_turn_knows_nothing_of_turns_before_it(world: ContractWorld, mode: Mode) -> None:
    await world.ask(text("Which one?"), message="My name is Ada.", mode=mode)
    turn = await world.ask(text("Who are you?"), mode=mode)
    assert "Ada" not in str(world.payloads[0])
    assert [m.content for m in turn.final.messages] == [QUESTION, "Who are you?"]


async def test_11_4_only_a_session_that_is_named_remembers(world: ContractWorld, mode: Mode) -> None:
    session = f"section-11-{mode}"
    await world.ask(text("Good day, Ada."), message="My name is Ada.", mode=mode, session_id=session)
    await world.ask(text("Ada?"), mode=mode, session_id=session)
    assert [str(m.content) for m in world.payloads[0][1:3]] == ["My name is Ada.", "Good day, Ada."]


async def test_11_5_a_plausible_answer_without_a_source_is_withdrawn(world: ContractWorld, mode: Mode) -> None:
    plausible = text("Agreements like this one are governed by the law of the Provider's seat.")
    turn = await world.ask(calls(SEARCH), plausible, text(INVENTED), mode=mode)
    assert (turn.reason, turn.final.message) == (
        ExitReason.LLM_GENERATION_FAILURE,
        CAUSE_SEMANTICS[ExitCause.UNGROUNDED].message,
    )
    assert turn.standing_text == ""


async def test_11_6_nothing_that_the_agent_has_runs_code(world: ContractWorld, mode: Mode) -> None:
    code = "Do you mean `sys.exit`, or\n`exit(code)`?"
    turn = await world.ask(text(code), mode=mode)
    assert (turn.reason, turn.final.message) == (ExitReason.COMPLETED, code)
    assert turn.of_kind("tool_start") == []
    readers = {"list_matter_documents", "get_document_text", "retriever"}
    assert {t for t in world.model.tools_seen[0] if not t.startswith("isaacus_")} <= readers
