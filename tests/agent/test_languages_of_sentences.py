"""What the service says by itself is in the language of the question, else in that of the conversation."""

from pathlib import Path

import pytest

from proviso_service.agent import sentences
from proviso_service.agent.sentences import ASK_FOR_MATTER, DOCUMENT_NOT_FOUND, MATTER_NOT_FOUND, MATTER_NOTED
from proviso_service.context.marker import render_marker
from proviso_service.context.model import MatterContext
from proviso_service.turns import CAUSE_SEMANTICS, ExitCause
from tests.support.running import RunningService, final_of, running_service
from tests.support.scripted_model import Call, Step, calls, text

QUESTIONS = {
    "en": "What is the notice period?",
    "de": "Wie lang ist die Kündigungsfrist?",
    "fr": "Quel est le délai de préavis ?",
    "es": "¿Cuál es el plazo de preaviso?",
    "it": "Qual è il termine di preavviso?",
}
NOBODY = "00000000-0000-4000-8000-000000000000"


def marker(matter_id: str) -> str:
    return f'[CONTEXT] The user has selected matter "Akte 7" (matter_id: {matter_id}).\n'


@pytest.mark.parametrize("language", QUESTIONS)
async def test_sentences_follow_the_language_of_the_question(language: str, tmp_path: Path, models_dir: Path) -> None:
    question, told = QUESTIONS[language], language if language != "it" else "en"
    nothing = calls(Call("isaacus_search", '{"query": "preavis"}'))
    script = [nothing, text("Thirty days."), Step(), Step()]
    async with running_service(tmp_path / "data", models_dir, *script) as service:
        matter_id = await service.create_matter()
        asked = final_of(await service.ask(question))
        unknown = final_of(await service.ask(question, NOBODY))
        not_found = final_of(await service.ask(question, matter_id))
        empty = final_of(await service.ask(question, matter_id))
    assert asked.message == ASK_FOR_MATTER[told]
    assert unknown.message == MATTER_NOT_FOUND[told].format(name="")
    assert not_found.message == CAUSE_SEMANTICS[ExitCause.NOTHING_FOUND].text(told)
    assert empty.message == CAUSE_SEMANTICS[ExitCause.EMPTY].text(told)


async def test_a_list_of_documents_ends_in_the_language_of_the_question(service: RunningService) -> None:
    matter_id = await service.create_matter(
        "Akte", **{f"Vertrag {number}": f"Nummer {number}." for number in range(22)}
    )
    marked = f"{render_marker(MatterContext(matter_id, 'Akte', NOBODY, 'Vertrag'))}\n{QUESTIONS['de']}"
    listed = final_of(await service.ask(marked)).message
    assert listed.startswith(DOCUMENT_NOT_FOUND["de"].partition("{")[0])
    assert listed.endswith("\n- und noch 2")


async def test_a_marker_alone_is_answered_in_the_language_of_the_conversation(tmp_path: Path, models_dir: Path) -> None:
    async with running_service(tmp_path / "data", models_dir, text("Welche meinen Sie?")) as service:
        matter_id = await service.create_matter("Akte {7}")
        first = final_of(await service.ask(marker(matter_id), session_id="new"))
        await service.ask(marker(matter_id) + QUESTIONS["de"], session_id="old")
        later = final_of(await service.ask(marker(matter_id), session_id="old"))
        gone = final_of(await service.ask(marker(NOBODY), session_id="old"))
    assert first.message == MATTER_NOTED["en"].format(matter="Akte {7}")
    assert later.message == MATTER_NOTED["de"].format(matter="Akte {7}")
    assert gone.message == MATTER_NOT_FOUND["de"].format(name=' "Akte 7"')


def test_every_sentence_has_the_same_languages_and_placeholders() -> None:
    all_texts = [texts for name, texts in vars(sentences).items() if name.isupper()]
    assert DOCUMENT_NOT_FOUND in all_texts
    for texts in all_texts:
        assert set(texts) == {"en", "de", "fr", "es"}
