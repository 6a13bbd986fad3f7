"""The judge: what it says of texts, and how pairs are read."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from proviso_service.embedded import Judge
from proviso_service.embedded.classifier.words import plain_titles
from proviso_service.embedded.judge import (
    MAX_QUERY_TOKENS,
    MAX_TEXT_TOKENS,
    Verdict,
    below_title,
    joined_tokens,
    margins_of,
)
from proviso_service.embedded.minilm import Encoders, Encoding
from proviso_service.embedded.prepare import JUDGE_SOURCE, read_judge_weights
from proviso_service.embedded.prepared import JUDGE_FILE, MODEL_FILE
from proviso_service.embedded.tuned import JUDGE, tuned
from proviso_service.models import ModelPassage
from tests.embedded import bert_reference

NOTICE = "Either party may terminate this Agreement for any reason on thirty (30) days' written notice to the other."
LAW = "This Agreement shall be governed by the laws of the State of New York, without regard to its conflict rules."
INSURANCE = "Supplier shall maintain general liability insurance of at least $2,000,000 per occurrence during the term."


@pytest.fixture(scope="module")
def judge(models_dir: Path) -> Judge:
    return Judge(models_dir, threads=1)


@pytest.mark.parametrize(
    ("asked", "text", "verdict"),
    [
        ("Can we get out of the deal without a reason?", NOTICE, Verdict.SUPPORTS),
        ("how long before leaving do we have to tell them", NOTICE, Verdict.SUPPORTS),
        ("Who carries insurance?", NOTICE, Verdict.NEITHER),
        ("Which country's rules decide a quarrel about this deal?", LAW, Verdict.SUPPORTS),
        ("Which court hears disputes?", INSURANCE, Verdict.NEITHER),
        ("How much insurance must the supplier have?", INSURANCE, Verdict.SUPPORTS),
    ],
)
def test_it_tells_what_a_text_says_of_a_question_or_statement(
    judge: Judge, asked: str, text: str, verdict: Verdict
) -> None:
    assert Verdict(int(judge.logits([(asked, text)])[0].argmax())) is verdict


def test_the_sentence_that_answers_comes_first(judge: Judge) -> None:
    pairs = [("Which law applies to the contract?", text) for text in (NOTICE, LAW, INSURANCE)]
    assert margins_of(judge.logits(pairs)).argmax() == 1


def test_a_pair_is_judged_alike_in_any_company(judge: Judge) -> None:
    pairs = [("Which law applies?", text) for text in (NOTICE, LAW, INSURANCE, "Short.")]
    together = judge.logits(pairs)
    for pair, logits in zip(pairs, together, strict=True):
        np.testing.assert_allclose(judge.logits([pair])[0], logits, atol=1e-3)


def test_no_pairs_have_no_verdicts(judge: Judge) -> None:
    assert judge.logits([]).shape == (0, len(Verdict))


def test_verdicts_agree_with_the_float_weights(judge: Judge, models_dir: Path) -> None:
    weights = {**read_judge_weights(JUDGE_SOURCE.find() / MODEL_FILE), **tuned(JUDGE)}
    encoding = Encoding.load(models_dir, JUDGE_FILE, 1)
    for text in (NOTICE, LAW, INSURANCE):
        ids = joined_tokens(encoding.tokens("Which law applies?"), encoding.tokens(text))
        exact = bert_reference.judge(weights, ids)
        np.testing.assert_allclose(judge.logits([("Which law applies?", text)])[0], exact, atol=0.5)


async def test_sentences_that_were_compared_before_are_not_read_again(
    models_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    runs = Encoders.runs

    def noted(encoders: Encoders, texts: Sequence[str], max_tokens: int) -> Iterator[Any]:
        read.extend(texts)
        return runs(encoders, texts, max_tokens)

    monkeypatch.setattr(Encoders, "runs", noted)
    judge = Judge(models_dir, threads=1)
    alone = await judge.nearness("Which law applies?", [LAW])
    both = await judge.nearness("Which law applies?", [NOTICE, LAW, NOTICE])
    assert read == ["Which law applies?", LAW, NOTICE]
    np.testing.assert_allclose([both[1], both[2]], [alone[0], both[0]], atol=1e-6)
    assert both[0] < both[1]
    read.clear()
    await asyncio.gather(*(judge.nearness("Which law applies?", [LAW, NOTICE]) for _ in range(3)))
    assert read == []
    assert (await judge.nearness("Who is insured?", [])).shape == (0,)
    await judge.close()


def test_long_texts_are_cut_and_still_end() -> None:
    joined = joined_tokens([1, *range(100, 400), 2], [1, *range(500, 900), 2])
    assert len(joined) == MAX_QUERY_TOKENS + MAX_TEXT_TOKENS - 1
    assert (joined[0], joined[MAX_QUERY_TOKENS - 1], joined[-1]) == (1, 2, 2)


def test_titles_lose_their_numbers() -> None:
    assert plain_titles(ModelPassage("The Supplier is liable.", ("ARTICLE IV. Liability", "4.2 Limits"))) == ("Limits",)
    assert plain_titles(ModelPassage("4.3 Insurance. The Supplier is insured.")) == ("Insurance",)


@pytest.mark.parametrize(
    ("titles", "sentence", "read"),
    [
        (("Liability", "Limits"), "It is capped.", "Limits: It is capped."),
        (("Limits",), "Limits. It is capped.", "Limits. It is capped."),
        ((), "It is capped.", "It is capped."),
    ],
)
def test_a_sentence_is_read_below_its_title(titles: tuple[str, ...], sentence: str, read: str) -> None:
    assert below_title(titles, sentence) == read
