"""Classification as the model uses it: counts of all types, clauses to cite, all within a budget."""

import json
from pathlib import Path
from typing import Any, cast

import pytest
from pydantic import ValidationError

from proviso_service.errors import InvalidRequest
from proviso_service.identity import Caller
from proviso_service.matters.model import DocumentStatus
from proviso_service.tools.base import SourcePassage, ToolScope
from proviso_service.tools.classify import ClassifyResult, IsaacusClassify, IsaacusClassifyArgs
from proviso_service.tools.registry import ToolRegistry
from tests.support.analysis_world import TENANT, AnalysisWorld, analysis_world
from tests.support.rendered import BUDGET, rendered

FILLER = "The parties have agreed on the following in good faith. " * 12


async def run(world: AnalysisWorld, *clause_types: str, **args: Any) -> ClassifyResult:
    scope = ToolScope(Caller(TENANT, "anna"), world.matter.matter_id)
    return await IsaacusClassify(world.classification, world.store).run(
        scope, IsaacusClassifyArgs(clause_types=list(clause_types) or None, **args)
    )


@pytest.fixture
async def world(tmp_path: Path) -> Any:
    async with analysis_world(tmp_path) as made:
        yield made


def test_the_schema_is_the_tool_familys_without_the_matter() -> None:
    [schema] = ToolRegistry([IsaacusClassify(cast(Any, None), cast(Any, None))]).schemas()
    function = schema["function"]
    assert function["name"] == "isaacus_classify"
    assert list(function["parameters"]["properties"]) == ["clause_types", "document_ids"]
    assert "required" not in function["parameters"]
    for wrong in ([""], ["x" * 201], ["Notice"] * 51):
        with pytest.raises(ValidationError):
            IsaacusClassifyArgs(clause_types=wrong)


def test_the_description_says_when_to_use_it_and_when_another() -> None:
    for part in ("What types of clauses are here?", "isaacus_iql", "isaacus_extract", "isaacus_search", "Indemnity"):
        assert part in IsaacusClassify.description
    assert "document_ids=[document_id]" in IsaacusClassify.description
    assert not IsaacusClassify.is_retrieval


async def test_the_whole_result_is_the_tool_familys(world: AnalysisWorld) -> None:
    document = await world.add("nothing", "rent due")
    await world.add_unready(DocumentStatus.PENDING)
    data = (await run(world, "{rent due}", "{notice}")).data()
    assert data["clauses"] == [
        {
            "clause_type": "{rent due}",
            "confidence": 1.0,
            "text_excerpt": "rent due",
            "document_id": document.document_id,
            "filename": "lease.txt",
            "start": 8,
            "end": 16,
            "page": 0,
            "heading": "",
            "permalink": f"cite:{document.document_id}@8-16",
        }
    ]
    assert (data["total_found"], data["clause_types_searched"]) == (1, ["{rent due}", "{notice}"])
    assert data["counts"][1] == {"clause_type": "{notice}", "clauses": 0, "documents": 0}
    assert data["document_errors"][0]["error"].startswith("slow.pdf is still being processed")
    json.dumps(data)


async def test_the_model_reads_counts_and_clauses_it_can_cite(world: AnalysisWorld) -> None:
    document = await world.add_under(("rent due", ["Lease", "2. Rent"]), ("notice given", ["Lease", "3. Notice"]))
    read, numbered = rendered(await run(world, "{rent due}", "{notice given}", "{insurance}"))
    rent, notice = read["clause_types"]
    assert rent == {
        "clause_type": "{rent due}", "clauses": 1, "documents": 1,
        "passages": [
            {"ref": 1, "filename": "lease.txt", "heading": "2. Rent", "confidence": 1.0, "text": "rent due"}
        ],
    }  # fmt: skip
    assert notice["passages"][0]["ref"] == 2
    assert read["not_found"] == ["{insurance}"]
    assert (read["total_found"], read["types_searched"], read["types_found"], read["truncated"]) == (2, 3, 2, False)
    assert numbered[0] == SourcePassage(document.document_id, "lease.txt", 0, "rent due", 1, "2. Rent")


async def test_every_type_has_its_say(world: AnalysisWorld) -> None:
    types = [f"{{{word} term}}" for word in ("rent", "notice", "audit", "tax", "waiver", "insurance")]
    for word in ("rent", "notice", "audit", "tax", "waiver", "insurance"):
        await world.add(
            *(f"{FILLER} The {word} term {number}. {FILLER}" for number in range(3)), filename=f"{word}.txt"
        )
    read, numbered = rendered(await run(world, *types))
    assert [one["clauses"] for one in read["clause_types"]] == [3] * 6
    assert all(one["passages"] for one in read["clause_types"])
    assert read["truncated"]
    for passage in numbered[:6]:
        assert f"The {passage.filename.removesuffix('.txt')} term" in " ".join(passage.text.split())


async def test_however_many_types_are_asked_for_the_result_fits(world: AnalysisWorld) -> None:
    words = [f"{first}{second}term {'x' * 150}" for first in "abcde" for second in "abcdefghij"]
    await world.add(*words, filename='"quoted\\".txt')
    for types in ([f"{{{word}}}" for word in words], [f"{{un{word}}}" for word in words]):
        for budget in (1_000, BUDGET):
            read, _ = rendered(await run(world, *types), budget)
            assert (read["types_searched"], read["truncated"]) == (50, True)
            assert read["types_found"] == (50 if types[0].startswith("{aa") else 0)


async def test_where_there_is_no_clause_the_types_are_named(world: AnalysisWorld) -> None:
    await world.add("nothing")
    result = await run(world)
    read, numbered = rendered(result)
    assert (result.found, read["total_found"], read["clause_types"], numbered) == (False, 0, [], [])
    assert read["not_found"][:2] == ["Termination", "Indemnity"]


async def test_what_is_wrong_is_told(world: AnalysisWorld) -> None:
    await world.add("rent")
    with pytest.raises(InvalidRequest, match=r"clause_types\[0\]: must not be blank"):
        await run(world, " ")


async def test_the_document_ids_are_those_of_the_call(world: AnalysisWorld) -> None:
    await world.add("rent", filename="a.txt")
    second = await world.add("rent", filename="b.txt")
    data = (await run(world, "{rent}", document_ids=[second.document_id])).data()
    assert [clause["filename"] for clause in data["clauses"]] == ["b.txt"]
