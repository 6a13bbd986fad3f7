"""How the embedder serves: turns, bounds, cancelling, closing."""

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.embedded import Encoders, MiniLmEmbedder, MiniLmEncoder
from proviso_service.embedded.minilm import runs_of_similar_length
from proviso_service.embedded.prepared import MAX_TOKENS
from proviso_service.models import ModelBusy, ModelClosed, Vectors


class HeldEncoder(MiniLmEncoder):
    """The encoder, stopped before its first run until `gate` is set; keeps every text that it was asked to read."""

    gate: threading.Event
    holding: threading.Event
    read: list[str]

    @classmethod
    def make(cls, models_dir: Path) -> "HeldEncoder":
        encoder = cls.load(models_dir, threads=1)
        encoder.gate, encoder.holding, encoder.read = threading.Event(), threading.Event(), []
        return encoder

    def tokens(self, text: str) -> list[int]:
        self.read.append(text)
        if text == "broken":
            raise RuntimeError("this text breaks the tokenizer")
        return super().tokens(text)

    def encode(self, batch: Sequence[list[int]]) -> Vectors:
        self.holding.set()
        self.gate.wait()
        return super().encode(batch)


@pytest.fixture
def encoder(models_dir: Path) -> HeldEncoder:
    return HeldEncoder.make(models_dir)


@pytest.fixture
async def embedder(encoder: HeldEncoder) -> AsyncIterator[MiniLmEmbedder]:
    """Four texts in a batch, eight in line."""
    embedder = MiniLmEmbedder(Encoders(lambda: encoder), batch_texts=4, queue_texts=8)
    yield embedder
    encoder.gate.set()
    await embedder.close()


async def held(encoder: HeldEncoder, embedder: MiniLmEmbedder) -> asyncio.Task[Vectors]:
    """A call that the encoder is stopped in."""
    task = asyncio.create_task(embedder.embed_documents(["held"]))
    await asyncio.to_thread(encoder.holding.wait)
    return task


async def one_step() -> None:
    await asyncio.sleep(0)


async def test_queries_go_before_documents_that_wait(encoder: HeldEncoder, embedder: MiniLmEmbedder) -> None:
    first = await held(encoder, embedder)
    documents = asyncio.create_task(embedder.embed_documents([f"document {number}" for number in range(20)]))
    await one_step()
    query = asyncio.create_task(embedder.embed_query("query"))
    await one_step()
    encoder.gate.set()
    await asyncio.gather(first, documents, query)

    assert encoder.read[:2] == ["held", "query"]


async def test_queries_go_between_the_runs_of_a_batch(models_dir: Path) -> None:
    encoder = HeldEncoder.make(models_dir)
    embedder = MiniLmEmbedder(Encoders(lambda: encoder), batch_texts=16)
    long = ["clause " * 300] * 6
    documents = asyncio.create_task(embedder.embed_documents(long))
    await asyncio.to_thread(encoder.holding.wait)
    query = asyncio.create_task(embedder.embed_query("query"))
    await one_step()
    encoder.gate.set()
    await query

    assert not documents.done()
    assert (await documents).shape == (6, 384)
    await embedder.close()


async def test_concurrent_callers_share_a_batch(encoder: HeldEncoder, embedder: MiniLmEmbedder) -> None:
    first = await held(encoder, embedder)
    texts = [f"question {number}" for number in range(8)]
    queries = [asyncio.create_task(embedder.embed_query(text)) for text in texts]
    await one_step()
    encoder.gate.set()
    vectors = await asyncio.gather(*queries)
    await first

    expected = await embedder.embed_documents(texts)
    np.testing.assert_allclose(np.stack(vectors), expected, atol=1e-4)


async def test_a_call_with_more_texts_than_the_line_holds_is_fed_in_slices(
    encoder: HeldEncoder, embedder: MiniLmEmbedder
) -> None:
    encoder.gate.set()
    texts = [f"clause {number} " * (1 + number % 7) for number in range(60)]

    both = await asyncio.gather(embedder.embed_documents(texts), embedder.embed_documents(texts[::-1]))

    np.testing.assert_allclose(both[0], both[1][::-1], atol=1e-4)
    assert len(np.unique(both[0].round(3), axis=0)) == 60


async def test_calls_take_turns(encoder: HeldEncoder, embedder: MiniLmEmbedder) -> None:
    first = await held(encoder, embedder)
    long = asyncio.create_task(embedder.embed_documents([f"long {number}" for number in range(100)]))
    await one_step()
    short = asyncio.create_task(embedder.embed_documents(["short"]))
    await one_step()
    encoder.gate.set()
    await short

    assert not long.done()
    await asyncio.gather(first, long)
    assert encoder.read.index("short") <= 17


async def test_texts_nobody_waits_for_are_not_read(encoder: HeldEncoder, embedder: MiniLmEmbedder) -> None:
    first = await held(encoder, embedder)
    given_up = [
        asyncio.create_task(embedder.embed_documents([f"unwanted {number}" for number in range(30)])),
        asyncio.create_task(embedder.embed_query("unwanted query")),
    ]
    await one_step()
    for task in given_up:
        task.cancel()
    await asyncio.wait(given_up)
    encoder.gate.set()
    await first
    await embedder.embed_query("wanted")

    assert encoder.read == ["held", "wanted"]


async def test_a_call_that_waits_for_space_can_be_cancelled(encoder: HeldEncoder, embedder: MiniLmEmbedder) -> None:
    first = await held(encoder, embedder)
    filling = asyncio.create_task(embedder.embed_documents([f"filling {number}" for number in range(8)]))
    await one_step()
    waiting = asyncio.create_task(embedder.embed_documents(["unwanted"]))
    await one_step()
    waiting.cancel()
    await asyncio.wait([waiting])
    encoder.gate.set()
    await asyncio.gather(first, filling)

    assert "unwanted" not in encoder.read


async def test_queries_over_the_bound_are_too_many(encoder: HeldEncoder, embedder: MiniLmEmbedder) -> None:
    first = await held(encoder, embedder)
    queries = [asyncio.create_task(embedder.embed_query(f"query {number}")) for number in range(8)]
    await one_step()

    with pytest.raises(ModelBusy) as caught:
        await embedder.embed_query("one more")

    assert caught.value.retry_after_s > 0
    encoder.gate.set()
    await asyncio.gather(first, *queries)
    await embedder.embed_query("now there is space")


async def test_a_fault_reaches_the_caller_and_the_next_call_is_served(
    encoder: HeldEncoder, embedder: MiniLmEmbedder
) -> None:
    encoder.gate.set()
    with pytest.raises(RuntimeError, match="breaks the tokenizer"):
        await embedder.embed_documents(["broken"])

    assert (await embedder.embed_query("sound")).shape == (384,)


async def test_closing_finishes_the_run_and_fails_what_waits(encoder: HeldEncoder, embedder: MiniLmEmbedder) -> None:
    running = await held(encoder, embedder)
    waiting = [
        asyncio.create_task(embedder.embed_documents([f"waiting {number}" for number in range(30)])),
        asyncio.create_task(embedder.embed_documents(["waiting for space"])),
        asyncio.create_task(embedder.embed_query("waiting query")),
    ]
    await one_step()
    closing = asyncio.create_task(embedder.close())
    await one_step()
    encoder.gate.set()
    await closing

    assert (await running).shape == (1, 384)
    for task in [*waiting, embedder.embed_query("late"), embedder.embed_documents(["late"])]:
        with pytest.raises(ModelClosed):
            await task
    assert encoder.read == ["held"]
    await embedder.close()


def test_one_embedder_serves_several_event_loops(models_dir: Path) -> None:
    embedder = MiniLmEmbedder.load(models_dir)
    found: list[Vectors] = []

    def caller() -> None:
        found.append(asyncio.run(embedder.embed_query("the same question")))

    threads = [threading.Thread(target=caller) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    asyncio.run(embedder.close())

    assert len(found) == 3
    np.testing.assert_allclose(found[0], found[2], atol=1e-5)


@given(lengths=st.lists(st.integers(1, MAX_TOKENS), max_size=80))
def test_runs_hold_every_text_once_and_stay_small_when_padded(lengths: list[int]) -> None:
    runs = list(runs_of_similar_length(lengths))

    assert sorted(index for run in runs for index in run) == list(range(len(lengths)))
    assert all(len(run) * max(lengths[index] for index in run) <= 512 for run in runs)
    in_order = [lengths[index] for run in runs for index in run]
    assert in_order == sorted(lengths)
