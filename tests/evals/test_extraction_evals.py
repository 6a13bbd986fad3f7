"""Fitting the extractor, on data of its own."""

import asyncio
import json
from pathlib import Path

import pytest

from evals.chat import QUESTIONS as CHAT_QUESTIONS
from evals.chat_grading import read_questions
from evals.data import DataProblem, load
from evals.extraction_data import Asked, natural_lines, plain_questions
from evals.fit_extractor import questions, shipped_head
from evals.overlaps import answers_it
from proviso_service.embedded import Judge
from proviso_service.embedded.extractor.model import head_from_json, head_to_json
from proviso_service.reading.model import Span
from tests.support.word_embedder import WordEmbedder

LAW = "This lease is governed by the laws of Oregon."
INSURANCE = "Tenant shall maintain liability insurance and name Landlord as an additional insured."
RENEWAL = "The term renews automatically for successive one (1) year terms."
CAP = "The liability of Landlord shall not exceed the rent of one year."
BODY = f"1. Insurance\n\n{INSURANCE}\n\n2. Law\n\n{LAW}\n\n3. Term\n\n{RENEWAL}\n\n4. Cap\n\n{CAP}"
QUESTIONS = {
    "Governing Law": "Which law governs the contract?",
    "Insurance": "Must a party keep insurance?",
    "Renewal Term": "What is the renewal term?",
    "Cap On Liability": "Is liability capped?",
    "Most Favored Nation": "Does a party get the best price?",
}
MARKED = {"Governing Law": LAW, "Insurance": INSURANCE, "Renewal Term": RENEWAL, "Cap On Liability": CAP}


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> list[Asked]:
    """Nothing is marked for one of the categories."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "contracts").mkdir()
    spans = []
    for number in range(6):
        name, text = f"{number}.txt", f"Lease {number}\n\n{BODY}\n\nSigned for house {number}."
        (folder / "contracts" / name).write_text(text)
        for category, marked in MARKED.items():
            start = text.index(marked)
            spans.append({"contract": name, "category": category, "start": start, "end": start + len(marked)})
    (folder / "categories.json").write_text(json.dumps(QUESTIONS))
    (folder / "spans.jsonl").write_text("\n".join(map(json.dumps, spans)))
    return asyncio.run(questions(load(folder, 10), folder, WordEmbedder()))


@pytest.fixture(scope="module")
def judge(models_dir: Path) -> Judge:
    return Judge(models_dir, threads=1)


def test_an_answer_agrees_by_half_of_either() -> None:
    assert answers_it(Span(0, 10), [Span(5, 100)])
    assert answers_it(Span(0, 1_000), [Span(990, 1_010)])
    assert not answers_it(Span(0, 10), [Span(6, 100)])
    assert not answers_it(Span(0, 10), [])


def test_every_contract_is_asked_every_question_also_where_nothing_is_marked(asked: list[Asked]) -> None:
    assert len(asked) == 6 * len(QUESTIONS) * 2
    assert {bool(one.spans) for one in asked if one.category == "Most Favored Nation"} == {False}
    assert all(one.found for one in asked)


def test_what_is_shipped_is_the_same_every_time(asked: list[Asked], judge: Judge) -> None:
    content = shipped_head(asked, judge)
    assert content == shipped_head(asked, judge)
    assert head_to_json(head_from_json(content)) == content


def test_one_category_is_too_little_to_fit_on(asked: list[Asked], judge: Judge) -> None:
    of_one = [one for one in asked if one.category == "Insurance"]
    with pytest.raises(DataProblem, match="two categories"):
        shipped_head(of_one, judge)


def test_natural_questions_are_about_contracts_of_their_own() -> None:
    natural = {one["contract"] for one in natural_lines()}
    matters, _ = read_questions(CHAT_QUESTIONS)
    assert len(natural) >= 30
    assert not natural & {name for names in matters.values() for name in names}


def test_every_category_has_two_plain_questions() -> None:
    written = plain_questions()
    assert set(QUESTIONS) <= set(written)
    assert all(first != second and first.endswith("?") and second.endswith("?") for first, second in written.values())


def test_weights_of_other_features_are_refused() -> None:
    with pytest.raises(ValueError, match="not those of the features"):
        head_from_json(b'{"weights": {"luck": 1.0}, "bias": 0, "slope": 1, "shift": 0}')
