"""What is new in the catalog is embedded before a message asks."""

import asyncio
from collections.abc import Sequence

from proviso_service.context.catalog.catalog import AgentDefinition, Catalog, CatalogHolder
from proviso_service.context.model import IncludeMode
from proviso_service.context.selection.search import keep_prepared
from proviso_service.models import Vectors
from tests.support.catalogs import an_item
from tests.support.selection_world import ToldEmbedder, rule, search_of


class CountingEmbedder(ToldEmbedder):
    """Tells when texts have been embedded; fails for the first ones."""

    def __init__(self) -> None:
        super().__init__({})
        self.tried = asyncio.Event()
        self.failures = 1

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.tried.set()
        if self.failures:
            self.failures -= 1
            raise ConnectionError
        return await super().embed_documents(texts)


async def nothing() -> Catalog:
    raise AssertionError("nobody reloads")


def a_catalog(content: str) -> Catalog:
    return Catalog(AgentDefinition("Test", ""), [an_item(rule("Rent"), IncludeMode.AGENT, content)])


async def test_every_change_of_the_catalog_is_embedded_also_after_a_failure() -> None:
    embedder, holder, prepared_then = CountingEmbedder(), CatalogHolder(nothing), []

    async def then() -> None:
        prepared_then.append(list(embedder.embedded))

    async with asyncio.timeout(10), keep_prepared(holder, search_of(embedder), then):
        for content in ("One.", "Two.", "Three."):
            embedder.tried.clear()
            holder.exchange(a_catalog(content))
            await embedder.tried.wait()
    assert embedder.embedded == ["What it is.", "Two.", "Three."]
    assert prepared_then == [["What it is.", "Two."]]
