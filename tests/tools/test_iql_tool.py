"""IQL as the model uses it: the contract's arguments, results within a budget, passages to cite."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from proviso_service.analysis.model import InvalidIql
from proviso_service.errors import NoReadyDocuments
from proviso_service.identity import Caller
from proviso_service.matters.model import DocumentStatus
from proviso_service.tools.base import SourcePassage, ToolScope
from proviso_service.tools.iql import IqlResult, IsaacusIql, IsaacusIqlArgs
from proviso_service.tools.registry import ToolRegistry
from tests.support.analysis_world import TENANT, AnalysisWorld, analysis_world
from tests.support.rendered import BUDGET, rendered

FILLER = "The parties have agreed on the following in good faith. " * 12


async def run(world: AnalysisWorld, query: str, **args: Any) -> IqlResult:
    scope = ToolScope(Caller(TENANT, "anna"), world.matter.matter_id)
    return await IsaacusIql(world.analysis, world.store).run(scope, IsaacusIqlArgs(query=query, **args))


@pytest.fixture
async def world(tmp_path: Path) -> Any:
    async with analysis_world(tmp_path) as made:
        yield made


async def test_the_schema_is_the_contracts_without_the_matter(world: AnalysisWorld) -> None:
    [schema] = ToolRegistry([IsaacusIql(world.analysis, world.store)]).schemas()
    function = schema["function"]
    assert function["name"] == "isaacus_iql"
    assert list(function["parameters"]["properties"]) == ["query", "document_ids", "model", "skip"]
    assert function["parameters"]["required"] == ["query"]
    assert IsaacusIqlArgs(query="{a}").model_dump() == {
        "query": "{a}", "document_ids": None, "model": "kanon-universal-classifier", "skip": 0,
    }  # fmt: skip
    IsaacusIqlArgs(query="{a}", document_ids=None, model=None)
    with pytest.raises(ValidationError):
        IsaacusIqlArgs.model_validate({"document_ids": []})


async def test_the_description_says_when_to_use_it_and_what_there_is(world: AnalysisWorld) -> None:
    description = IsaacusIql(world.analysis, world.store).description
    for part in ("Find termination clauses", "isaacus_search", "document_ids=[document_id]"):
        assert part in description
    for template in world.analysis.templates:
        assert template.signature in description


async def test_the_result_is_the_contracts(world: AnalysisWorld) -> None:
    document = await world.add("nothing", "The rent is due.")
    await world.add_unready(DocumentStatus.PROCESSING)
    data = (await run(world, "{rent due}")).data()
    assert (data["query"], data["total_matches"], data["average_score"]) == ("{rent due}", 1, 1.0)
    ready, slow = data["document_results"]
    assert {name: ready[name] for name in ("document_id", "filename", "score", "match_count")} == {
        "document_id": document.document_id, "filename": "lease.txt", "score": 1.0, "match_count": 1,
    }  # fmt: skip
    [match] = ready["matches"]
    assert match | {"text": "The rent is due.", "start_index": 8, "end_index": 24, "score": 1.0} == match
    assert "error" not in ready
    assert slow["error"].startswith("slow.pdf is still being processed")
    json.dumps(data)


async def test_the_model_reads_matches_it_can_cite(world: AnalysisWorld) -> None:
    document = await world.add_under(("nothing", []), ("The rent is due.", ["Lease", "2. Rent"]))
    read, numbered = rendered(await run(world, "{rent due}"))
    [shown] = read["document_results"]
    assert shown["matches"] == [{"ref": 1, "heading": "2. Rent", "page": 2, "score": 1.0, "text": "The rent is due."}]
    assert numbered == [SourcePassage(document.document_id, "lease.txt", 8, "The rent is due.", 2, "2. Rent")]
    assert not read["truncated"]


async def test_documents_come_by_score_and_each_has_its_say(world: AnalysisWorld) -> None:
    for number in range(12):
        text = f"{FILLER} rent {'due' if number == 7 else ''} {number}. {FILLER}"
        await world.add(text, f"rent {FILLER}", filename=f"{number}.txt")
    read, numbered = rendered(await run(world, "{rent due}", model=None))
    assert read["document_results"][0]["filename"] == "7.txt"
    assert (read["total_matches"], read["document_count"], read["truncated"]) == (1, 12, True)
    assert "rent due 7" in " ".join(numbered[0].text.split())
    both, numbered = rendered(await run(world, "{rent}"))
    assert len({passage.document_id for passage in numbered}) == len(numbered) > 1
    assert both["total_matches"] == 24


async def test_errors_are_shown_and_a_long_query_is_cut(world: AnalysisWorld) -> None:
    await world.add("rent")
    for number in range(9):
        await world.add_unready(DocumentStatus.PROCESSING, filename=f"slow-{number}.pdf")
    read, _ = rendered(await run(world, f"{{rent {'and so on ' * 300}}}"))
    assert [error["filename"] for error in read["errors"]] == ["slow-0.pdf", "slow-1.pdf", "slow-2.pdf"]
    assert read["truncated"]
    assert len(read["query"]) == 300


async def test_whatever_the_texts_hold_the_result_fits(world: AnalysisWorld) -> None:
    await world.add(*['rent "\\\n' * 200] * 5, filename='"quoted\\".txt')
    for budget in (900, 1_500, BUDGET):
        read, _ = rendered(await run(world, "{rent}"), budget)
        assert read["document_results"][0]["match_count"] == 5


async def test_no_match_is_a_result_and_not_an_empty_retrieval(world: AnalysisWorld) -> None:
    await world.add("nothing")
    result = await run(world, "{rent}")
    assert (result.found, IsaacusIql.is_retrieval) == (False, False)
    read, numbered = rendered(result)
    assert (read["total_matches"], read["average_score"], numbered) == (0, 0.0, [])
    assert read["document_results"][0]["score"] == 0.0


async def test_what_is_wrong_is_told_in_the_contracts_words(world: AnalysisWorld) -> None:
    with pytest.raises(NoReadyDocuments, match="No ready documents found in this matter"):
        await run(world, "{rent}")
    await world.add("rent")
    with pytest.raises(InvalidIql) as caught:
        await run(world, "{IS rent clause}")
    assert caught.value.message.startswith("Invalid IQL query syntax: At character 5, unknown template")


async def test_the_document_ids_are_those_of_the_call(world: AnalysisWorld) -> None:
    await world.add("rent", filename="a.txt")
    second = await world.add("rent", filename="b.txt")
    data = (await run(world, "{rent}", document_ids=[second.document_id])).data()
    assert [result["filename"] for result in data["document_results"]] == ["b.txt"]
