"""Fitting the classifier, on data of its own."""

import json
from pathlib import Path

import numpy as np
import pytest

from evals.corpus import Corpus, is_marked, read_corpus
from evals.data import load
from evals.fitting import fit
from evals.phrasings import about, phrasings
from proviso_service.embedded.classifier.fitted import from_bytes, to_bytes
from proviso_service.embedded.classifier.model import StatementScorer
from proviso_service.embedded.classifier.statements import understand, wordings
from proviso_service.reading.model import Span
from tests.support.word_embedder import WordEmbedder

LAW = "This lease is governed by the laws of Oregon."
INSURANCE = "Tenant shall maintain liability insurance and name Landlord as an additional insured."
BODY = f"1. Rent\n\nThe rent is due monthly.\n\n2. Insurance\n\n{INSURANCE}\n\n3. Governing Law\n\n{LAW}\n"
QUESTIONS = {"Governing Law": "Which law governs the contract?", "Insurance": "Must a party keep insurance?"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "contracts").mkdir()
    spans = []
    for number in range(6):
        name, text = f"{number}.txt", f"Lease {number}\n\n{BODY}\nSigned for house {number}."
        (tmp_path / "contracts" / name).write_text(text)
        for category, marked in (("Governing Law", LAW), ("Insurance", INSURANCE)):
            start = text.index(marked)
            spans.append({"contract": name, "category": category, "start": start, "end": start + len(marked)})
    (tmp_path / "categories.json").write_text(json.dumps(QUESTIONS))
    (tmp_path / "spans.jsonl").write_text("\n".join(map(json.dumps, spans)))
    return tmp_path


@pytest.fixture
async def corpus(folder: Path) -> Corpus:
    return await read_corpus(load(folder, 10), WordEmbedder(), 400)


def test_a_passage_is_marked_by_half_of_either_or_by_a_long_part() -> None:
    assert is_marked(Span(0, 100), Span(50, 150))
    assert is_marked(Span(0, 1_000), Span(900, 960))
    assert is_marked(Span(0, 1_000), Span(850, 5_000))
    assert not is_marked(Span(0, 100), Span(51, 1_000))
    assert not is_marked(Span(0, 100), Span(100, 110))


async def test_the_corpus_knows_what_is_marked(corpus: Corpus) -> None:
    for category, text in (("Governing Law", LAW), ("Insurance", INSURANCE)):
        marked = [passage.text for passage, flag in zip(corpus.passages, corpus.labels[category], strict=True) if flag]
        assert len(marked) == 6
        assert all(text in passage for passage in marked)
    first = corpus.part(np.array([name == "0.txt" for name in corpus.contracts]))
    assert set(first.contracts) == {"0.txt"}
    assert len(first.vectors) == len(first.passages) == len(first.labels["Insurance"])


def test_a_category_is_asked_for_in_several_wordings() -> None:
    found = phrasings("Insurance", "Must a party keep insurance?")
    assert found[0] == about("Insurance", "Must a party keep insurance?")
    assert "This is an insurance clause." in found
    assert len(set(found)) == len(found) > 3


async def test_what_is_fitted_is_the_same_every_time_and_finds_what_is_marked(corpus: Corpus) -> None:
    statements = {name: [about(name, question)] for name, question in QUESTIONS.items()}
    content = to_bytes(await fit(corpus, statements, WordEmbedder()))
    assert content == to_bytes(await fit(corpus, statements, WordEmbedder()))
    scorer = StatementScorer(from_bytes(content))
    for name, (text,) in statements.items():
        statement = understand(text)
        meant = await WordEmbedder().embed_documents(wordings(statement))
        scores = scorer.score(statement, list(meant), corpus.passages, corpus.vectors)
        assert scores[corpus.labels[name]].min() > scores[~corpus.labels[name]].max()
