"""Documents get vectors of another model in place, beside those that they have."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from proviso_service.errors import Unavailable
from proviso_service.matters import Matter, Reembedding, SearchOutcome
from proviso_service.models import Vectors
from tests.support.matters_world import MattersWorld, matters_world
from tests.support.word_embedder import WordEmbedder

TEXTS = {"lease.md": "Rent is due.", "loan.md": "Interest is paid.", "sale.md": "Goods are delivered."}


class OtherEmbedder(WordEmbedder):
    """Another model, of other dimensions."""

    model_id = "other-words"
    dimensions = 16


class FailingOnce(OtherEmbedder):
    """Fails at its second document, once."""

    def __init__(self) -> None:
        self.calls = 0
        self.embedded: list[str] = []

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        if self.calls == 2:
            raise RuntimeError("the model is away")
        self.embedded += texts
        return await super().embed_documents(texts)


@asynccontextmanager
async def later(folder: Path, embedder: WordEmbedder) -> AsyncIterator[MattersWorld]:
    """The same documents, with another model in use."""
    async with matters_world(folder, embedder) as world:
        yield world


async def ingested(folder: Path) -> Matter:
    async with matters_world(folder, WordEmbedder()) as world, world.running():
        matter = await world.matter()
        await world.ingest(matter, TEXTS)
    return matter


async def reembed(world: MattersWorld, *, forgets_others: bool = False) -> list[tuple[int, int]]:
    work = Reembedding(world.store, world.embedder, world.indexes)
    states = world.indexes.rebuild(partial(work.run, forgets_others=forgets_others))
    return [(state.done, state.total) async for state in states]


def similarities(outcome: SearchOutcome) -> dict[str, float]:
    return {hit.stored.filename: round(hit.similarity, 3) for hit in outcome.hits}


async def test_documents_are_found_by_words_alone_until_they_are_embedded_again(tmp_path: Path) -> None:
    matter = await ingested(tmp_path)
    async with later(tmp_path, OtherEmbedder()) as world:
        before = await world.search(matter, "Rent is due.", threshold=0.0)
        assert similarities(before)["lease.md"] == 0
        assert (await reembed(world))[-1] == (3, 3)
        after = await world.search(matter, "Rent is due.", threshold=0.0)
        assert similarities(after)["lease.md"] == 1


async def test_the_earlier_model_goes_on_finding_until_its_vectors_are_forgotten(tmp_path: Path) -> None:
    matter = await ingested(tmp_path)
    async with later(tmp_path, OtherEmbedder()) as world, later(tmp_path, WordEmbedder()) as earlier:
        await reembed(world)
        assert similarities(await earlier.search(matter, "Rent is due."))["lease.md"] == 1
        await reembed(world, forgets_others=True)
        assert not await earlier.store.known_embeddings(matter.tenant, "words", await hashes(world, matter))
        assert len(await world.store.known_embeddings(matter.tenant, "other-words", await hashes(world, matter))) == 3


async def test_what_is_done_stays_done_when_it_is_broken_off(tmp_path: Path) -> None:
    await ingested(tmp_path)
    model = FailingOnce()
    async with later(tmp_path, model) as world:
        with pytest.raises(Unavailable):
            await reembed(world)
        assert len(model.embedded) == 1
        assert (await reembed(world))[-1] == (3, 3)
        assert sorted(model.embedded) == sorted(TEXTS.values())
        await reembed(world)
        assert len(model.embedded) == 3


async def test_vectors_of_a_document_that_was_deleted_meanwhile_are_not_kept(tmp_path: Path) -> None:
    matter = await ingested(tmp_path)
    async with later(tmp_path, OtherEmbedder()) as world:
        first, *_ = await world.store.all_documents(matter.tenant, matter.matter_id)
        await world.store.delete_document(matter.tenant, matter.matter_id, first.document_id)
        await world.store.keep_vectors(first, "other-words", np.ones((1, 16), dtype=np.float32))
        assert await world.store.chunks_not_embedded(matter.tenant, first.document_id, "other-words") == []
        assert (await reembed(world))[-1] == (2, 2)


async def hashes(world: MattersWorld, matter: Matter) -> list[str]:
    documents = await world.store.all_documents(matter.tenant, matter.matter_id)
    chunks = [
        await world.store.chunks_not_embedded(matter.tenant, document.document_id, "none") for document in documents
    ]
    return [chunk.content_sha256 for some in chunks for chunk in some]
