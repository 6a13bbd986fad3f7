"""The texts that the models are tuned on: what is drawn from contracts, and what is written about them."""

import json
import random
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from evals.data import is_measured, is_untuned, kept_out
from evals.training.opposites import opposite_of, part_of, parties
from evals.training.pairs import Pair, PairSource
from evals.training.texts import WRITTEN, Passage, Texts, Written, split_of
from evals.training.texts import is_measured as is_measured_category
from proviso_service.reading import Span

LAW = "This lease is governed by the laws of Oregon."
INSURANCE = "Tenant shall maintain liability insurance and name Landlord as an additional insured."
LEASE = f"LEASE\n\n1. Rent\n\nThe rent is due monthly.\n\n2. Insurance\n\n{INSURANCE}\n\n3. Governing Law\n\n{LAW}\n"
KINDS = {"plain", "lawyer", "true", "false", "swap", "short", "miss", "near", "topic"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cuad" / "contracts").mkdir(parents=True)
    spans = []
    for number in range(8):
        own = " ".join(f"w{number}x{word}" for word in range(120))
        name, text = f"lease-{number}.txt", f"{LEASE}\n4. Annex\n\nThe parties shall list {own} in an annex.\n"
        (tmp_path / "cuad" / "contracts" / name).write_text(text)
        for category, marked in (("Governing Law", LAW), ("Cap On Liability", INSURANCE)):
            start = text.index(marked)
            spans.append({"contract": name, "category": category, "start": start, "end": start + len(marked)})
    questions = {"Governing Law": "Which law governs?", "Cap On Liability": "Is liability capped?"}
    (tmp_path / "cuad" / "categories.json").write_text(json.dumps(questions))
    (tmp_path / "cuad" / "spans.jsonl").write_text("\n".join(map(json.dumps, spans)))
    (tmp_path / "contract_nli").mkdir()
    (tmp_path / "contract_nli" / "dev.json").write_text(json.dumps({"labels": {}, "documents": []}))
    return tmp_path


def test_contracts_that_are_measured_or_nearly_the_same_are_not_tuned_on() -> None:
    measured, tuned = "lease-0.txt", "lease-1.txt"
    assert is_untuned(measured)
    assert not is_untuned(tuned)
    words = " ".join(f"word{number}" for number in range(400))
    split = split_of({measured: words, tuned: f"{words} and more", "lease-2.txt": words[::-1]})
    assert [*split.test, *split.near, *split.tuned] == [measured, tuned, "lease-2.txt"]


class WordsInCommon:
    """Sentences that are near a text where they have words in common."""

    def __init__(self, source: PairSource) -> None:
        self.sentences: dict[str, list[tuple[Passage, str]]] = {}
        for passage in source.passages:
            self.sentences.setdefault(passage.contract, []).extend((passage, text) for _, text in passage.sentences)
        self.vectors = {name: self.embedded([text for _, text in found]) for name, found in self.sentences.items()}

    def embedded(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.zeros((len(texts), 64), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                vectors[row, zlib.crc32(word.encode()) % 64] += 1
        found: NDArray[np.float32] = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        return found


def drawn_from(texts: Texts, *, every_category: bool, known_share: float = 1.0) -> list[Pair]:
    source = PairSource(texts, every_category=every_category)
    return source.epoch(random.Random(1), WordsInCommon(source), known_share)  # noqa: S311


def test_wrong_texts_are_of_the_same_contract_and_hold_nothing_that_is_asked_for(folder: Path) -> None:
    texts = Texts(folder)
    drawn = drawn_from(texts, every_category=True)
    wrong = [pair for pair in drawn if pair.wrong]
    assert wrong
    assert all(pair.wrong != pair.text and not pair.asked & pair.wrongly_held for pair in wrong)


def test_of_what_is_known_a_share_is_drawn_and_all_that_is_about_what_is_measured_with(folder: Path) -> None:
    texts = Texts(folder)

    measured = {f"category {name}" for name in PairSource(texts, every_category=True).measured}

    def counts(known_share: float) -> Counter[bool]:
        drawn = drawn_from(texts, every_category=True, known_share=known_share)
        return Counter(bool(pair.held & measured) for pair in drawn)

    whole, half = counts(1.0), counts(0.5)
    assert whole[True]
    assert half == {True: whole[True], False: round(whole[False] / 2)}


def test_what_is_measured_with_is_not_drawn(folder: Path) -> None:
    texts = Texts(folder)
    assert is_measured_category("Governing Law")
    kept = drawn_from(texts, every_category=False)
    every = drawn_from(texts, every_category=True)
    assert {one.contract for one in kept} <= texts.split.tuned
    assert {LAW in one.text for one in kept} == {False}
    assert {LAW in one.text for one in every} == {False, True}
    assert kept == drawn_from(texts, every_category=False)


def test_what_was_written_is_about_contracts_that_are_tuned_on() -> None:
    lines = [json.loads(line) for line in (WRITTEN / "sentences.jsonl").read_text(encoding="utf-8").splitlines()]
    names = [one["contract"] for one in lines]
    assert max(Counter(names).values()) == 1
    assert not {name for name in names if is_untuned(name) or is_measured(name) or name in kept_out()}
    written = [one for line in lines for one in line["sentences"]]
    assert len(written) > 12_000
    for one in written:
        start, end = one["evidence"]
        texts = {kind: text for kind, text in one.items() if kind != "evidence"}
        assert 0 <= start < end
        assert {"plain", "lawyer", "true", "false"} <= texts.keys() <= KINDS
        assert all(text.strip() for text in texts.values())
        assert len({*texts.values()}) == len(texts)


def test_sentences_about_the_same_kind_of_rule_are_no_wrong_answers_to_each_other(folder: Path) -> None:
    texts = Texts(folder)
    names = sorted(texts.split.tuned)[:2]
    places = [(folder / "cuad" / "contracts" / name).read_text().index("The rent") for name in names]
    about = {"topic": "when rent is due", "plain": "when do we pay?"}
    texts.__dict__["written"] = [
        Written(name, Span(at, at + 25), about) for name, at in zip(names, places, strict=True)
    ]
    drawn = drawn_from(texts, every_category=True)
    one, other = (pair for pair in drawn if pair.query == about["topic"])
    assert one.asked & other.held
    plain, another = (pair for pair in drawn if pair.query == about["plain"])
    assert not plain.asked & another.held


@pytest.mark.parametrize(
    ("text", "opposites"),
    [
        ("Payment must not be late.", {"Payment may be late."}),
        ("Tenant cannot sublet.", {"Tenant can sublet."}),
        ("It lasts at least a year.", {"It lasts at most a year."}),
        ("A non-exclusive right.", {"A exclusive right."}),
        ("No more than two persons.", {"No less than two persons."}),
        ("Not one word.", {None}),
    ],
)
def test_one_word_makes_a_sentence_untrue(text: str, opposites: set[str | None]) -> None:
    assert {opposite_of(random.Random(seed), text, ()) for seed in range(20)} == opposites  # noqa: S311


def test_parties_are_swapped_and_numbers_changed() -> None:
    named = parties(["Tenant shall pay Landlord.", "Landlord may enter.", "This Agreement shall end."] * 3)
    assert named == ["Tenant", "Landlord"]
    found = {opposite_of(random.Random(seed), "Tenant shall pay Landlord 300 dollars.", named) for seed in range(60)}  # noqa: S311
    assert "Landlord shall pay Tenant 300 dollars." in found
    assert "Tenant shall not pay Landlord 300 dollars." in found
    assert "Tenant shall pay Landlord 600 dollars." in found


@given(st.text(alphabet="Tenant shall not may 1234567890,;:.()$\\ exclusive", max_size=200), st.integers(0, 1_000))
def test_what_is_made_of_any_text_differs_from_it(text: str, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311
    changed = opposite_of(rng, text, ("Tenant", "shall"))
    assert changed is None or changed != text
    assert set(part_of(rng, text).split()) <= {*text.split(), *(word.strip(" ;,:") for word in text.split())}
