"""Fitting and measuring the extractor, on data of its own."""

import asyncio
import json
from pathlib import Path

import pytest

from evals.chat import QUESTIONS as CHAT_QUESTIONS
from evals.chat_grading import read_questions
from evals.data import DataProblem, is_held_out, load
from evals.extraction import BM25, COSINE, EXTRACTOR, FIRST_HIT, SENTENCES, Questions, measure, questions
from evals.extraction_data import Asked, natural_contracts, plain_questions
from evals.extraction_figures import Given, agreement, by_category, found_at, judged, report, score_error
from evals.extraction_fitting import fit_head
from evals.fit_extractor import shipped_head
from evals.overlaps import answers_it, union_share, word_f1
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
def asked(tmp_path_factory: pytest.TempPathFactory) -> Questions:
    """Of contracts of both halves; nothing is marked for one of the categories."""
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
    store = tmp_path_factory.mktemp("store")
    return asyncio.run(questions(load(folder, 10), store, WordEmbedder(), QUESTIONS, {}))


@pytest.fixture(scope="module")
def judge(models_dir: Path) -> Judge:
    return Judge(models_dir, threads=1)


def put(*spans: Span, category: str = "Insurance") -> Asked:
    return Asked("0.txt", category, "Must a party keep insurance?", False, spans, ())


def test_an_answer_agrees_by_half_of_either() -> None:
    assert answers_it(Span(0, 10), [Span(5, 100)])
    assert answers_it(Span(0, 1_000), [Span(990, 1_010)])
    assert not answers_it(Span(0, 10), [Span(6, 100)])
    assert not answers_it(Span(0, 10), [])


def test_the_shared_part_is_of_what_either_has() -> None:
    assert union_share(Span(0, 10), [Span(5, 15), Span(50, 60)]) == pytest.approx(5 / 15)
    assert union_share(Span(0, 10), [Span(10, 20)]) == 0


def test_words_count_wherever_they_stand() -> None:
    text = "the laws of Oregon; laws of Oregon apply"
    assert word_f1(text, Span(0, 18), [Span(0, 18)]) == 1
    assert word_f1(text, Span(4, 18), [Span(20, len(text))]) == pytest.approx(2 * 3 / 7)
    assert word_f1(text, Span(0, 18), []) == 0


def test_figures_count_what_is_found_and_what_is_right() -> None:
    text = "x" * 100
    right = judged(put(Span(0, 10)), text, [Given(Span(0, 10), 0.8)])
    second = judged(put(Span(0, 10), category="Rent"), text, [Given(Span(50, 60), 0.6), Given(Span(0, 10), 0.4)])
    none = judged(put(Span(0, 10)), text, [])
    unanswerable = judged(put(), text, [Given(Span(0, 10), 0.5)])
    found = [right, second, none, unanswerable]
    figures = agreement(found)
    assert figures.questions == 3
    assert figures.right == pytest.approx((1 / 3, 2 / 3))
    assert figures.macro == pytest.approx((1 / 2 + 0) / 2)
    at = found_at(found, 0.5)
    assert (at.precision, at.recall, at.false_rate) == pytest.approx((1 / 3, 1 / 3, 1))
    assert found_at(found, 0.9).precision == 0
    assert score_error([right]) == pytest.approx(0.2)


async def test_the_extractor_is_fitted_on_one_half_and_measured_on_the_other(asked: Questions, judge: Judge) -> None:
    assert {is_held_out("contract", one.contract) for one in asked.fitted} == {False}
    assert {is_held_out("contract", one.contract) for one in asked.measured} == {True}
    assert {len(one.spans) for one in asked.measured if one.category == "Most Favored Nation"} == {0}
    slices = await measure(asked, WordEmbedder(), judge)
    assert {name.split()[0] for name in slices} == {"Held-out", "Fitted"}
    for ways in slices.values():
        assert list(ways) == [EXTRACTOR, SENTENCES, FIRST_HIT, BM25, COSINE]
        assert len({len(found) for found in ways.values()}) == 1
        text = "\n".join((*report("Slice", ways), *by_category(ways)))
        assert "| extractor |" in text
    plain = slices["Fitted categories, plain questions"]
    assert agreement(plain[EXTRACTOR]).right[1] > 0.6
    assert agreement(plain[SENTENCES]).f1[1] >= agreement(plain[EXTRACTOR]).f1[1]


def test_what_is_shipped_is_the_same_every_time(asked: Questions, judge: Judge) -> None:
    content = shipped_head([*asked.fitted, *asked.measured], judge)
    assert content == shipped_head([*asked.fitted, *asked.measured], judge)
    assert head_to_json(head_from_json(content)) == content


def test_one_category_is_too_little_to_fit_on(asked: Questions, judge: Judge) -> None:
    of_one = [one for one in asked.fitted if one.category == "Insurance"]
    with pytest.raises(DataProblem, match="two categories"):
        fit_head(asked.words, of_one, judge)


def test_natural_questions_are_about_contracts_of_their_own() -> None:
    natural = set(natural_contracts(Path()))
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
