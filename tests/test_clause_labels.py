"""Which clause a passage, a quotation and an answer are said to stand in, over the whole service."""

import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest

from proviso_client.v1 import tools_pb2 as pb
from tests.support.running import RunningService, final_of, running_service
from tests.support.scripted_model import Call, Step, text

NOTICES = "12.1 Notices. Notices are given in writing and are delivered to the registered office of the other party. "
FORCE_MAJEURE = "12.2 Force Majeure. Neither party is liable for a failure that floods, strikes or storms have caused. "
AMENDMENT = (
    "12.3 This Agreement may be amended only in writing, as set out in\nSection 12.1 The parties sign each page. "
)
COURTS = "The courts of Portland have jurisdiction over every dispute, whatever its cause and whoever brings it first."
LAW = f"12.11 This Agreement is governed by the laws of the State of Oregon. {COURTS}"
COSTS = "13.1 Each party bears the costs of its own advisers, and those of this Agreement are shared in equal parts. "
MORE = "It applies for as long as this Agreement is in force and for a year after that, whatever ends it. " * 4

CONTRACT = "\n\n".join(
    [
        "SUPPLY AGREEMENT",
        "TABLE OF CONTENTS",
        "11. Term ........ 3\n12. General ........ 4\n12.1 Notices ........ 4\n12.2 Force Majeure ........ 5",
        "11. Term",
        "The term began on\n12.5.2019 and ends after 10 Business Days. " + MORE,
        "12. General",
        NOTICES + MORE,
        FORCE_MAJEURE + MORE,
        AMENDMENT + MORE,
        *(f"12.{number} The parties agree on matter {number} as on the rest. {MORE}" for number in range(4, 11)),
        f"{LAW}\n\n12.12 The schedules are a part of this Agreement:\n1. Prices\n2. Places of delivery",
        "13. In the event of a dispute the parties meet first.",
        COSTS + MORE,
    ]
)  # fmt: skip
FILE = "Supply Agreement.txt"
_NUMBER = re.compile(r"\d+(?:\.\d+)*")


@dataclass(frozen=True)
class Uploaded:
    service: RunningService
    matter_id: str
    document_id: str

    async def search(self, query: str) -> list[pb.SearchResult]:
        request = pb.SearchRequest(matter_id=self.matter_id, query=query, page_size=20, min_score=0)
        return list((await self.service.tools.Search(request)).results)

    async def section(self, heading: str) -> str:
        request = pb.GetDocumentTextRequest(matter_id=self.matter_id, document_id=self.document_id, heading=heading)
        return str((await self.service.tools.GetDocumentText(request)).text)


@pytest.fixture
async def uploaded(tmp_path: Path, models_dir: Path) -> AsyncIterator[Uploaded]:
    quote = "governed by the laws of the State of Oregon"
    script = (
        Step(calls=[Call("isaacus_search", json.dumps({"query": "laws of the State of Oregon", "max_results": 1}))]),
        text(f"It is \u201c{quote}\u201d [1]."),
    )
    async with running_service(tmp_path, models_dir, *script) as service:
        matter_id = await service.create_matter()
        document = await service.upload(matter_id, FILE, CONTRACT.encode())
        await service.wait_until_ready(matter_id)
        yield Uploaded(service, matter_id, document.document_id)


async def test_every_passage_is_labelled_by_the_number_that_it_begins_with(uploaded: Uploaded) -> None:
    results = await uploaded.search("parties agree on matter of this Agreement")
    own = [(_NUMBER.match(one.chunk_text), _NUMBER.match(one.citation.heading)) for one in results]
    numbers = [(number[0], label[0] if label else "") for number, label in own if number]
    assert all(number == label for number, label in numbers)
    assert len(numbers) > 5


async def test_the_section_path_names_the_clause_above_and_no_clause_beside_it(uploaded: Uploaded) -> None:
    by_label = {one.citation.heading: one.citation for one in await uploaded.search("parties agree on matter")}
    assert list(by_label["12.4"].section_path)[-2:] == ["12. General", "12.4"]
    assert by_label["12.4"].label == f"{FILE}, 12.4"
    assert list(by_label["13.1"].section_path)[-2:] == ["13", "13.1"]


async def test_a_search_for_a_clause_without_a_title_finds_it_first(uploaded: Uploaded) -> None:
    first, *_ = await uploaded.search("clause 12.7")
    assert (first.citation.heading, first.chunk_text[:4]) == ("12.7", "12.7")


async def test_called_finds_the_clause_of_that_name_and_not_those_after_it(uploaded: Uploaded) -> None:
    query = pb.ExecuteIqlRequest(matter_id=uploaded.matter_id, query='{IS clause called "Force Majeure"}')
    [document] = (await uploaded.service.tools.ExecuteIql(query)).document_results
    assert [match.text[:18] for match in document.matches] == ["12.2 Force Majeure"]


async def test_a_section_ends_where_the_next_clause_begins(uploaded: Uploaded) -> None:
    assert (await uploaded.section("12.2")).strip() == (FORCE_MAJEURE + MORE).strip()
    assert (await uploaded.section("clause 12.3")).startswith("12.3 This Agreement may be amended")
    assert (await uploaded.section("12.10")).rstrip().endswith(MORE.strip())
    assert (await uploaded.section("12.12")).rstrip().endswith("2. Places of delivery")
    assert (await uploaded.section("13")).startswith("13. In the event")
    assert "12.12 The schedules" in await uploaded.section("12. General")


@pytest.mark.parametrize(
    ("wanted", "offered"), [("12.13", '"12.12"'), ("2.1", '"12.'), ("12.2.1", '"12.2 Force Majeure"')]
)
async def test_a_clause_that_is_not_there_is_answered_with_those_near_it(
    uploaded: Uploaded, wanted: str, offered: str
) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await uploaded.section(wanted)
    assert caught.value.code() == grpc.StatusCode.NOT_FOUND
    assert offered in (caught.value.details() or "")


async def test_a_citation_names_the_clause_in_which_the_quotation_stands(uploaded: Uploaded) -> None:
    final = final_of(await uploaded.service.ask("Which law governs the agreement?", uploaded.matter_id))
    [citation] = final.citations
    assert "laws of the State of Oregon" in citation.quote
    assert citation.heading == "12.11"
    start = CONTRACT.index(citation.quote)
    assert (citation.start, citation.end) == (start, start + len(citation.quote))


async def test_an_extracted_answer_is_cited_by_the_clause_that_it_stands_in(uploaded: Uploaded) -> None:
    request = pb.ExtractRequest(matter_id=uploaded.matter_id, question="Which state's laws govern the agreement?")
    found = await uploaded.service.tools.Extract(request)
    assert "Oregon" in found.answer
    assert found.citations[0].citation.heading == "12.11"


async def test_a_part_of_a_passage_of_the_documentation_names_the_clause_that_it_begins_in(
    uploaded: Uploaded,
) -> None:
    clauses = [f"{section}.{number}" for section in range(1, 21) for number in range(1, 8)]
    words = {number: f"rule {number} of the house" for number in range(1, 8)} | {5: "helicopters of the house"}
    handbook = "\n\n".join(f"{one} Here are the {words[int(one[-1])]}. {COURTS}" for one in clauses)
    service = uploaded.service
    await service.upload("documentation", "handbook.txt", handbook.encode())
    await service.wait_until_ready("documentation")
    request = pb.RetrieveDocumentationRequest(query="helicopters of the house", page_size=20)
    output = (await service.tools.RetrieveDocumentation(request)).output
    shown = re.findall(r"^\[\d+\] handbook\.txt, (\S+):\n {4}(\S+)", output, re.MULTILINE)
    assert all(label == begins for label, begins in shown if begins in clauses)
    assert sum(begins.endswith(".5") for _, begins in shown) > 2
