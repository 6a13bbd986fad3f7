"""What the model is shown of a document's text is what it may quote."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from proviso_service.errors import DocumentNotFound, InvalidRequest
from proviso_service.identity import Caller
from proviso_service.matters.model import DocumentText, Matter
from proviso_service.tools.base import SourcePassage, ToolScope
from proviso_service.tools.get_document_text import GetDocumentText, GetDocumentTextArgs, TextResult
from tests.support.agent_world import document
from tests.support.matters_world import TENANT, MattersWorld, matters_world
from tests.support.word_embedder import WordEmbedder

TEXT = "".join(f"Clause {n}.\n" for n in range(10_000))


def test_only_what_can_be_shown_is_a_source() -> None:
    numbered: list[SourcePassage] = []

    def number(passage: SourcePassage) -> int:
        numbered.append(passage)
        return len(numbered)

    rendered = TextResult(DocumentText(document(), TEXT, 500, len(TEXT) + 500, truncated=False)).render(number, 1_000)
    shown = json.loads(rendered.text)["text"]
    (passage,) = numbered
    assert rendered.truncated
    assert passage.start == 500
    assert TEXT.startswith(passage.text)
    assert len(shown) <= len(passage.text) <= 1_000
    assert passage.text.startswith(shown)


def test_a_part_says_its_page_and_headings_and_is_cited_by_them() -> None:
    numbered: list[SourcePassage] = []

    def number(passage: SourcePassage) -> int:
        numbered.append(passage)
        return len(numbered)

    path = ("Lease", "1. Rent")
    part = DocumentText(document(), "The rent.", 500, 900, truncated=False, page=3, section_path=path)
    shown = json.loads(TextResult(part).render(number, 1_000).text)
    assert (shown["page"], shown["section_path"]) == (3, list(path))
    assert numbered == [SourcePassage(document().document_id, document().filename, 500, "The rent.", 3, "1. Rent")]


def test_a_text_that_fits_is_whole_and_has_no_hint() -> None:
    part = DocumentText(document(), "The rent.", 0, 9, truncated=False)
    rendered = TextResult(part).render(lambda _: 1, 1_000)
    read = json.loads(rendered.text)
    assert (read["text"], read["truncated"], read["next_start"], "hint" in read) == ("The rent.", False, 0, False)
    assert not rendered.truncated


def test_a_part_that_fits_says_where_the_text_goes_on() -> None:
    part = DocumentText(document(), "The rent.", 500, 900, truncated=True)
    read = json.loads(TextResult(part).render(lambda _: 1, 1_000).text)
    assert (read["truncated"], read["next_start"]) == (True, 509)
    assert "start=509" in read["hint"]
    assert TextResult(part).data()["next_start"] == 509


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[MattersWorld]:
    async with matters_world(tmp_path, WordEmbedder()) as made, made.running():
        yield made


def scope_of(matter: Matter) -> ToolScope:
    return ToolScope(Caller(TENANT, "anna"), matter.matter_id)


@pytest.mark.parametrize("budget", [500, 2_500])
async def test_a_long_text_is_read_to_its_end_by_following_the_hints(world: MattersWorld, budget: int) -> None:
    matter = await world.matter()
    text = "".join(f'Clause {n}: "quoted"\n\n' for n in range(400))
    stored = (await world.ingest(matter, {"long.txt": text}))["long.txt"]
    tool, start, read = GetDocumentText(world.matters), 0, ""
    while True:
        args = GetDocumentTextArgs(document_id=stored.document_id, start=start)
        rendered = (await tool.run(scope_of(matter), args)).render(lambda _: 1, budget)
        assert len(rendered.text) <= budget
        shown = json.loads(rendered.text)
        read += shown["text"]
        if not rendered.truncated:
            break
        hinted = re.search(r"start=(\d+)", shown["hint"])
        assert hinted is not None
        assert int(hinted[1]) == shown["next_start"] == len(read) > start
        start = shown["next_start"]
    assert read.strip() == text.strip()


async def test_a_document_that_is_not_there_is_told_with_those_that_are(world: MattersWorld) -> None:
    matter = await world.matter()
    tool, missing = GetDocumentText(world.matters), GetDocumentTextArgs(filename="leese.md")
    with pytest.raises(DocumentNotFound) as caught:
        await tool.run(scope_of(matter), missing)
    assert (caught.value.message, caught.value.hint) == ("No document 'leese.md'", "The matter has no documents.")
    await world.ingest(matter, {"lease.md": "Rent.", "nda.md": "Secrets."})
    with pytest.raises(DocumentNotFound) as caught:
        await tool.run(scope_of(matter), missing)
    assert caught.value.hint == "The documents are lease.md, nda.md."
    await world.ingest(matter, {f"{n}.md": f"Text {n}." for n in range(20)})
    with pytest.raises(DocumentNotFound) as caught:
        await tool.run(scope_of(matter), missing)
    assert caught.value.hint.endswith("9.md and 10 more, see list_matter_documents.")
    with pytest.raises(InvalidRequest, match="document_id or filename is required"):
        await tool.run(scope_of(matter), GetDocumentTextArgs())
