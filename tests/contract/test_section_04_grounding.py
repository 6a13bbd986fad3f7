"""Behavioural contract, section 4: grounding and citations."""

import pytest

from proviso_client.v1 import tools_pb2
from proviso_service.turns import CAUSE_SEMANTICS, ExitCause, ExitReason
from tests.support.contract_world import GROUNDED, HANDBOOK, INVENTED, RETRIEVE, SEARCH, ContractWorld, Mode
from tests.support.scripted_model import Step, calls, text

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def prompt_of(world: ContractWorld) -> str:
    await world.ask(text("Which one?"))
    return str(world.payloads[0][0].content)


async def test_4_1_an_answer_is_grounded_by_words_that_a_tool_returned(world: ContractWorld, mode: Mode) -> None:
    turn = await world.ask(calls(SEARCH), text(GROUNDED), mode=mode)
    assert turn.reason is ExitReason.COMPLETED
    (citation,) = turn.final.citations
    whole = await world.service.tools.GetDocumentText(
        tools_pb2.GetDocumentTextRequest(matter_id=world.matter_id, document_id=citation.document_id)
    )
    assert whole.text[citation.start : citation.end] == citation.quote == "the laws of the State of Oregon"
    assert citation.quote in turn.of_kind("tool_end")[0].output


async def test_4_2_the_model_is_forbidden_what_no_source_supports(world: ContractWorld) -> None:
    assert "Answer only from what the tools return" in await prompt_of(world)


async def test_4_3_what_no_source_holds_is_asked_for_once_more_and_then_refused(
    world: ContractWorld, mode: Mode
) -> None:
    turn = await world.ask(calls(SEARCH), text(INVENTED), text(INVENTED), mode=mode)
    assert (turn.reason, turn.final.message) == (
        ExitReason.LLM_GENERATION_FAILURE,
        CAUSE_SEMANTICS[ExitCause.UNGROUNDED].message,
    )
    assert turn.of_kind("token") == turn.discarded == []
    assert "no source of this conversation holds" in str(world.payloads[-1][-1].content)
    assert not turn.final.citations


async def test_4_4_the_model_is_forbidden_to_guess_and_to_generalise(world: ContractWorld) -> None:
    assert "Never guess, generalise or add knowledge of your own." in await prompt_of(world)


async def test_4_5_the_model_is_told_to_cite_by_number_and_to_name_the_document(world: ContractWorld) -> None:
    prompt = await prompt_of(world)
    assert "put the number of the source right after the quotation" in prompt
    assert "Name the document" in prompt


async def test_4_6_a_citation_has_its_number_its_file_and_its_place_in_the_message(
    world: ContractWorld, mode: Mode
) -> None:
    turn = await world.ask(calls(SEARCH), text(GROUNDED), mode=mode)
    (citation,) = turn.final.citations
    assert (citation.number, citation.filename) == (1, "Services Agreement.md")
    assert turn.final.message[citation.answer_start : citation.answer_end] == "“the laws of the State of Oregon” [1]"
    assert turn.of_kind("citation") == [citation]


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("It is the law of Oregon [99].", id="a number that no source has"),
        pytest.param("It says “the laws of the State of Utah” [1].", id="a quotation that is not there"),
        pytest.param("It is the law of Oregon.", id="no citation at all"),
    ],
)
async def test_4_7_citations_are_checked_and_an_answer_without_a_sound_one_is_withdrawn(
    world: ContractWorld, mode: Mode, answer: str
) -> None:
    turn = await world.ask(calls(SEARCH), Step([answer]), text(GROUNDED), mode=mode)
    assert (turn.reason, turn.final.message) == (ExitReason.COMPLETED, GROUNDED)
    assert turn.standing_text == GROUNDED
    assert turn.discarded == []
    assert [c.number for c in turn.final.citations] == [1]


async def test_4_8_an_unsound_citation_beside_a_sound_one_is_asked_for_again_and_then_left_out_with_a_mark(
    world: ContractWorld, mode: Mode
) -> None:
    partly = text(f"{GROUNDED} “Nobody is ever liable for anything” [1].")
    turn = await world.ask(calls(SEARCH), partly, partly, mode=mode)
    assert (turn.reason, turn.final.omitted_sentences) == (ExitReason.COMPLETED, 1)
    assert turn.final.message == f"{GROUNDED} [One sentence was left out here: no source holds it.]"
    assert not any("liable" in token.text for token in turn.of_kind("token"))
    assert [c.quote for c in turn.final.citations] == ["the laws of the State of Oregon"]


async def test_4_9_quotations_match_whatever_their_spaces_and_quotation_marks(world: ContractWorld, mode: Mode) -> None:
    turn = await world.ask(calls(SEARCH), text("It says „the laws\u00a0of the\nState of  Oregon“ [1]."), mode=mode)
    assert [c.quote for c in turn.final.citations] == ["the laws of the State of Oregon"]


async def test_4_10_the_retriever_gives_numbered_references_with_file_names_to_cite(
    world: ContractWorld, mode: Mode
) -> None:
    answer = "As handbook.md says, “Everyone has thirty days of annual leave each year.” [1]"
    turn = await world.ask(calls(RETRIEVE), text(answer), mode=mode)
    (end,) = turn.of_kind("tool_end")
    assert end.output.startswith("[1] handbook.md, Holidays:\n")
    assert (turn.reason, turn.final.message) == (ExitReason.COMPLETED, answer)
    (citation,) = turn.final.citations
    assert (citation.number, citation.filename) == (1, "handbook.md")
    assert HANDBOOK.decode()[citation.start : citation.end] == citation.quote
