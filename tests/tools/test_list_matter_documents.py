"""The list of documents as the model reads it."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from proviso_service.identity import Caller
from proviso_service.matters.model import Document, DocumentStatus
from proviso_service.tools.base import SourcePassage, ToolScope
from proviso_service.tools.list_matter_documents import ListMatterDocuments, ListMatterDocumentsArgs

LEASE = Document(
    "d1", "m", "t", "Lease.pdf", "application/pdf", 1, "", DocumentStatus.READY, datetime(2026, 1, 1, tzinfo=UTC)
)
SCOPE = ToolScope(Caller("t", "u"), "m")


class _Matters:
    """Holds the documents of one matter."""

    def __init__(self, *documents: Document) -> None:
        self._documents = documents

    async def all_documents(self, tenant: str, matter_id: str) -> tuple[Document, ...]:
        return self._documents

    async def openings(self, tenant: str, matter_id: str) -> dict[str, str]:
        return {
            "d2": "This agreement is made between Harbour Mills LLP and Alder Robotics Limited.",
            "d3": "This agreement is made between M&I Bank FSB, AT&T Corp. and BW-3 Inc.",
        }


def _named(number: int, filename: str) -> Document:
    return replace(LEASE, document_id=f"d{number}", filename=filename)


def _number(passage: SourcePassage) -> int:
    raise AssertionError("a list of names is no passage")


async def test_documents_whose_names_hold_the_words_come_first() -> None:
    many = [_named(number, f"Company{number}_2020-EX-10.{number}_Services Agreement.txt") for number in range(60)]
    golf = _named(99, "ADAMSGOLFINC_03_21_2005-EX-10.17-ENDORSEMENT AGREEMENT.txt")
    tool = ListMatterDocuments(_Matters(*many, golf))  # type: ignore[arg-type]
    listed = await tool.run(SCOPE, ListMatterDocumentsArgs(name="the Adams Golf endorsement agreement"))
    rendered = listed.render(_number, 2_500)
    read = json.loads(rendered.text)
    assert rendered.truncated
    assert read["total_count"] == 61
    assert read["name_matches"] == 1
    assert read["documents"][0] == {
        "document_id": "d99",
        "filename": golf.filename,
        "holds": ["adams", "endors", "golf"],
    }


async def test_documents_are_known_by_their_parties_too() -> None:
    one, other = _named(1, "scan-0017.pdf"), _named(2, "scan-0018.pdf")
    tool = ListMatterDocuments(_Matters(one, other))  # type: ignore[arg-type]
    listed = await tool.run(SCOPE, ListMatterDocumentsArgs(name="the Alder Robotics deal"))
    read = json.loads(listed.render(_number, 2_500).text)
    assert [(one["filename"], one.get("holds")) for one in read["documents"]] == [
        ("scan-0018.pdf", ["alder", "roboti"]),
        ("scan-0017.pdf", None),
    ]


@pytest.mark.parametrize(("name", "held"), [("the M&I agreement", "m&i"), ("AT&T", "at&t"), ("a bw-3 licence", "bw-3")])
async def test_a_name_of_letters_around_an_ampersand_or_figure_is_known(name: str, held: str) -> None:
    tool = ListMatterDocuments(_Matters(_named(2, "a.pdf"), _named(3, "b.pdf")))  # type: ignore[arg-type]
    read = json.loads((await tool.run(SCOPE, ListMatterDocumentsArgs(name=name))).render(_number, 2_500).text)
    assert [(one["filename"], one.get("holds")) for one in read["documents"]] == [("b.pdf", [held]), ("a.pdf", None)]
    assert read["name_matches"] == 1


async def test_a_short_list_tells_all_about_its_documents() -> None:
    failed = replace(LEASE, document_id="d2", status=DocumentStatus.FAILED)
    listed = await ListMatterDocuments(_Matters(LEASE, failed)).run(  # type: ignore[arg-type]
        SCOPE, ListMatterDocumentsArgs()
    )
    read = json.loads(listed.render(_number, 2_500).text)
    assert [one["processing_status"] for one in read["documents"]] == ["ready", "failed"]
    assert read["documents"][0]["file_size"] == 1
