"""What every answer keeps to: valid offsets, repeatability, independence of neighbours, and the port's ways to fail."""

import asyncio
import threading
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proviso_service.embedded import EmbeddedExtractor, Judge
from proviso_service.embedded.extractor.answers import MAX_ANSWERS, AnswerFinder, Candidate
from proviso_service.models import AnswerSpan, ModelBusy, ModelClosed, ModelPassage

LAW = ModelPassage("This lease is governed by the laws of Oregon.", ("9. Governing Law",))
RENT = ModelPassage("Tenant shall pay a rent of $900 on the first day of every month, for two (2) years.", ("2. Rent",))
QUESTIONS = (
    "Which law governs the lease?",
    "How much is the rent?",
    "How long is the term?",
    "When was it signed?",
    "Who are the parties?",
    "What is the title of the agreement?",
    "What percentage is paid?",
    "How many keys are there?",
    "Must the tenant pay rent?",
)
_DRAFTING = st.sampled_from(
    [
        LAW.text,
        RENT.text,
        "by and between ",
        "Acme Inc. and ",
        "(a) ",
        "\n\n",
        "; ",
        "LEASE AGREEMENT\n",
        "30 days ",
        "%",
    ]
)
texts = st.text(max_size=200) | st.lists(_DRAFTING | st.text(max_size=20), max_size=12).map("".join)
passages = st.builds(ModelPassage, texts, st.lists(st.text(max_size=20) | st.just("2. Rent"), max_size=3).map(tuple))
questions = st.sampled_from(QUESTIONS) | st.text(max_size=120)
no_fixture_check = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def extractor(models_dir: Path) -> Iterator[EmbeddedExtractor]:
    extractor = EmbeddedExtractor.load(Judge(models_dir, threads=1))
    yield extractor
    asyncio.run(extractor.close())


@no_fixture_check
@given(question=questions, passage=passages)
async def test_spans_lie_in_their_passage_without_overlap_best_first(
    extractor: EmbeddedExtractor, question: str, passage: ModelPassage
) -> None:
    (spans,) = await extractor.extract(question, [passage])
    assert len(spans) <= MAX_ANSWERS
    assert [span.score for span in spans] == sorted((span.score for span in spans), reverse=True)
    for span in spans:
        assert 0 <= span.start < span.end <= len(passage.text)
        assert 0 < span.score <= 1
        answer = passage.text[span.start : span.end]
        assert answer == answer.strip()
    in_order = sorted(spans, key=lambda span: span.start)
    assert all(one.end <= other.start for one, other in pairwise(in_order))


@no_fixture_check
@given(before=st.lists(passages, max_size=4), passage=passages, after=st.lists(passages, max_size=4))
async def test_answers_do_not_depend_on_neighbours(
    extractor: EmbeddedExtractor, before: list[ModelPassage], passage: ModelPassage, after: list[ModelPassage]
) -> None:
    for question in QUESTIONS[:3]:
        (alone,) = await extractor.extract(question, [passage])
        among = (await extractor.extract(question, [*before, passage, *after]))[len(before)]
        assert alone == among


async def test_answers_are_the_same_every_time(extractor: EmbeddedExtractor, models_dir: Path) -> None:
    other = EmbeddedExtractor.load(Judge(models_dir, threads=1))
    try:
        assert other.model_id == extractor.model_id
        for question in QUESTIONS:
            assert await other.extract(question, [LAW, RENT]) == await extractor.extract(question, [LAW, RENT])
    finally:
        await other.close()


async def test_no_passages_have_no_answers(extractor: EmbeddedExtractor) -> None:
    assert list(await extractor.extract("Which law governs?", [])) == []
    assert [
        list(spans) for spans in await extractor.extract("Which law governs?", [ModelPassage(""), ModelPassage(" \n")])
    ] == [
        [],
        [],
    ]


async def test_long_passages_are_read_to_their_end(extractor: EmbeddedExtractor) -> None:
    text = "The goods are stored in a dry place. " * 2_000 + LAW.text
    (spans,) = await extractor.extract("Which law governs the lease?", [ModelPassage(text)])
    assert text[spans[0].start : spans[0].end] == "the laws of Oregon"


@pytest.mark.parametrize(
    "text", ["A-" * 20_000, "1" * 40_000, "1,111" * 8_000, "between A and " * 3_000, " \n" * 20_000, "(a) " * 10_000]
)
async def test_hostile_texts_take_no_longer_than_others(extractor: EmbeddedExtractor, text: str) -> None:
    start = time.process_time()
    for question in QUESTIONS:
        await extractor.extract(question, [ModelPassage(text)])
    assert time.process_time() - start < 20


async def test_forty_passages_are_read_in_a_second_or_two(extractor: EmbeddedExtractor) -> None:
    read = [ModelPassage(f"{number}. {LAW.text} {RENT.text} " * 6) for number in range(40)]
    start = time.process_time()
    await extractor.extract("Which law governs the lease?", read)
    assert time.process_time() - start < 3


class Held(AnswerFinder):
    """A finder that waits until it is let go."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.let_go = threading.Event()

    def candidates(self, text: str, passages: Sequence[ModelPassage], first: int = 0) -> list[Candidate]:
        self.entered.set()
        assert self.let_go.wait(10)
        return []

    def answers(self, text: str, candidates: Sequence[Candidate], count: int) -> list[list[AnswerSpan]]:
        return [[] for _ in range(count)]


async def test_more_questions_than_may_wait_are_refused() -> None:
    finder = Held()
    extractor = EmbeddedExtractor(lambda: finder, None, "held")
    waiting = [asyncio.ensure_future(extractor.extract("Who?", [LAW])) for _ in range(64)]
    assert await asyncio.to_thread(finder.entered.wait, 10)
    with pytest.raises(ModelBusy):
        await extractor.extract("Who?", [LAW])
    finder.let_go.set()
    await asyncio.gather(*waiting)
    assert await extractor.extract("Who?", [LAW]) == [[]]
    await extractor.close()


async def test_closing_fails_what_waits_and_ends_the_thread() -> None:
    before = set(threading.enumerate())
    finder = Held()
    extractor = EmbeddedExtractor(lambda: finder, None, "held")
    under_way, waiting = (asyncio.ensure_future(extractor.extract("Who?", [LAW])) for _ in range(2))
    assert await asyncio.to_thread(finder.entered.wait, 10)
    closing = asyncio.ensure_future(extractor.close())
    await asyncio.sleep(0)
    finder.let_go.set()
    await closing
    for question in (under_way, waiting):
        with pytest.raises(ModelClosed):
            await question
    with pytest.raises(ModelClosed):
        await extractor.extract("Who?", [LAW])
    assert not any(thread.name.startswith("extractor") for thread in set(threading.enumerate()) - before)
