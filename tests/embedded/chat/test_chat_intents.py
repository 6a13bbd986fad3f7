"""What a question wants is recognised from its meaning and build."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from proviso_service.embedded import MiniLmEmbedder
from proviso_service.embedded.chat.intents import IntentRecogniser, choose
from proviso_service.embedded.chat.mentions import find_mentions
from proviso_service.embedded.chat.phrases import Intent, intents
from proviso_service.embedded.chat.request import generalised
from proviso_service.models import Vectors
from tests.support.chat_utterances import HELD_OUT, TUNED, Labelled

ASKING = {Intent.FACT, Intent.CLAUSE}
DOCUMENT_FREE = {Intent.GREETING, Intent.THANKS, Intent.ABOUT, Intent.ADVICE, Intent.OFF_TOPIC}


async def wrong_of(embedder: MiniLmEmbedder, labelled: Labelled) -> list[str]:
    recogniser = IntentRecogniser(embedder)
    wrong = []
    for question, allowed in labelled:
        found = await recogniser.recognise(generalised(question, find_mentions(question)))
        if found not in allowed:
            wrong.append(f"{question}: {found}")
    return wrong


async def test_utterances_seen_while_tuning_are_recognised(embedder: MiniLmEmbedder) -> None:
    wrong = await wrong_of(embedder, TUNED)
    assert len(wrong) <= 0.05 * len(TUNED), wrong


async def test_held_out_utterances_are_recognised(embedder: MiniLmEmbedder) -> None:
    wrong = await wrong_of(embedder, HELD_OUT)
    assert len(wrong) <= 0.15 * len(HELD_OUT), wrong


async def test_questions_about_documents_are_never_turned_away(embedder: MiniLmEmbedder) -> None:
    recogniser = IntentRecogniser(embedder)
    for question, allowed in TUNED + HELD_OUT:
        if not allowed & DOCUMENT_FREE:
            found = await recogniser.recognise(generalised(question, find_mentions(question)))
            assert found not in DOCUMENT_FREE, question


def test_the_sets_are_distinct_from_the_examples_and_each_other() -> None:
    examples = {text.lower() for one in intents().values() for text in one.examples}
    tuned = {question.lower() for question, _ in TUNED}
    held_out = {question.lower() for question, _ in HELD_OUT}
    assert len(tuned) == len(TUNED) >= 60
    assert len(held_out) == len(HELD_OUT) >= 60
    assert not held_out & (tuned | {text.rstrip(".?!") for text in examples} | examples)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How often can we go in and audit their plants?", ASKING),
        ("How often does the agreement mention arbitration?", {Intent.COUNT}),
        ("Are we protected if they later sell stock for less than we paid?", ASKING),
        ("What do we owe before we may give the work to a different manufacturer?", ASKING),
        ("Are the two liability caps different?", {Intent.COMPARE}),
        ("Please summarise the exculpation wording: what fault makes the adviser liable?", ASKING),
        ("Please summarise the agreement.", {Intent.SUMMARY}),
        ("And who has to help buyers when the software does not work?", ASKING),
        ("When does a notice that is sent by courier count as received?", ASKING),
        ("Do weekends count when there is a deadline to meet?", ASKING),
        ("Count the contracts that mention royalties.", {Intent.COUNT}),
        ("If the whole thing gets called off, do we still have to pay?", ASKING),
        ("Can I see the whole agreement?", {Intent.SHOW}),
        ("Who owns the files that are kept about a fund?", ASKING),
        ("What if the main document says one thing and an exhibit another?", ASKING),
        ("What files do we have in here?", {Intent.LIST}),
        ("If I write to them in the evening, when will they look at it?", ASKING),
        ("We have sent them a draft leaflet. How long do they have to say yes or no?", ASKING),
        ("How many stores must the franchisee open in the first year?", ASKING),
        ("May the agent give customers legal advice on our behalf?", ASKING),
        ("Would you advise us to sign?", {Intent.ADVICE}),
    ],
)
async def test_a_word_alone_does_not_decide_what_is_asked(
    embedder: MiniLmEmbedder, question: str, expected: set[Intent]
) -> None:
    assert await IntentRecogniser(embedder).recognise(question) in expected


class CountingEmbedder:
    """Embeds everything alike and counts the batches."""

    model_id = "counting"
    dimensions = 2

    def __init__(self) -> None:
        self.batches = 0

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.batches += 1
        await asyncio.sleep(0)
        return np.ones((len(texts), 2), dtype=np.float32)

    async def embed_query(self, text: str) -> Vectors:
        return np.ones(2, dtype=np.float32)


async def test_concurrent_first_questions_embed_the_examples_once() -> None:
    embedder = CountingEmbedder()
    recogniser = IntentRecogniser(embedder)
    await asyncio.gather(recogniser.warm_up(), *(recogniser.recognise("How many documents?") for _ in range(5)))
    assert embedder.batches == 1


@pytest.mark.parametrize(
    ("question", "near", "expected"),
    [
        ("The moon?", {Intent.OFF_TOPIC: 0.5, Intent.FACT: 0.2}, Intent.OFF_TOPIC),
        ("The moon clause of the contract?", {Intent.OFF_TOPIC: 0.5, Intent.FACT: 0.4}, Intent.FACT),
        ("Zorblax frobnication?", {Intent.OFF_TOPIC: 0.1, Intent.GREETING: 0.2}, Intent.FACT),
        ("Hello, what is the uptime guarantee for hosting customers in Ohio?", {Intent.GREETING: 0.7}, Intent.FACT),
    ],
)
def test_doubt_goes_to_the_documents(question: str, near: dict[Intent, float], expected: Intent) -> None:
    assert choose(question, near) is expected
