"""ExecuteIql, StreamIql and ParseIql over the whole service: the contract's examples, tables and errors."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import grpc
import numpy as np
import pytest
import pytest_asyncio

from proviso_client.v1 import matters_pb2
from proviso_client.v1 import tools_pb2 as pb
from proviso_service.models import ModelPassage, Scores
from tests.api.serving import Refusal, refusal
from tests.support.running import RunningService, running_service
from tests.support.word_classifier import WordClassifier

pytestmark = pytest.mark.asyncio(loop_scope="module")

SERVICES = """\
# Service Agreement

## 1. Confidentiality

The parties agree to maintain the confidentiality of all proprietary information.

## 2. Termination

The Provider alone may terminate this Agreement at any time.

## 3. Term

Either party may terminate this Agreement upon sixty days notice.

## 4. Fees

The Customer shall pay the fees within thirty days.
"""
NDA = "# NDA\n\n## 1. Secrecy\n\nThe recipient keeps the confidentiality of what it is told.\n"
SCORES: dict[str, dict[str, float]] = {
    "confidentiality clause": {"agree to maintain the confidentiality": 0.92, "keeps the confidentiality": 0.75},
    "termination clause": {"may terminate": 0.875},
    "unilateral clause": {"alone": 0.75},
    "obligation or duty on Customer": {"Customer shall": 0.625},
    "limits liability": {},
}


class FixedClassifier:
    """Scores by the words that a statement and a passage hold; 0.125 otherwise."""

    model_id = "fixed-classifier"

    def __init__(self) -> None:
        self.calls = 0

    async def score(self, statement: str, passages: Sequence[ModelPassage]) -> Scores:
        self.calls += len(passages)
        wanted = next((marks for words, marks in SCORES.items() if words in statement), {})
        found = [max((v for mark, v in wanted.items() if mark in p.text), default=0.125) for p in passages]
        return np.array(found, dtype=np.float32)


CLASSIFIER = FixedClassifier()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def service(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> AsyncIterator[RunningService]:
    async with running_service(tmp_path_factory.mktemp("data"), models_dir, classifier=CLASSIFIER) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def matter_id(service: RunningService) -> str:
    return await service.create_matter(Service_Agreement=SERVICES, NDA=NDA)


async def execute(service: RunningService, matter_id: str, query: str, **fields: object) -> pb.ExecuteIqlResponse:
    request = pb.ExecuteIqlRequest(matter_id=matter_id, query=query, **fields)  # type: ignore[arg-type]
    return await service.tools.ExecuteIql(request)


async def refused(service: RunningService, matter_id: str, query: str = "{a}", **fields: object) -> Refusal:
    return await refusal(execute(service, matter_id, query, **fields))


async def id_of(service: RunningService, matter_id: str, filename: str) -> str:
    listed = await service.matters.ListDocuments(matters_pb2.ListDocumentsRequest(matter_id=matter_id))
    return next(document.document_id for document in listed.documents if document.filename == filename)


async def test_example_1_a_simple_clause_search(service: RunningService, matter_id: str) -> None:
    answer = await execute(service, matter_id, "{IS confidentiality clause}")
    assert answer.query == "{IS confidentiality clause}"
    services, nda = answer.document_results
    assert (services.filename, nda.filename) == ("Service Agreement.md", "NDA.md")
    assert services.score == pytest.approx(0.92)
    assert (services.match_count, services.error) == (1, "")
    [match] = services.matches
    assert "maintain the confidentiality of all proprietary information" in match.text
    assert SERVICES[match.start_index : match.end_index] == match.text
    assert match.score == pytest.approx(0.92)
    assert answer.total_matches == 2
    assert answer.average_score == pytest.approx((0.92 + 0.75) / 2)


async def test_example_2_a_query_of_one_document(service: RunningService, matter_id: str) -> None:
    document_id = await id_of(service, matter_id, "Service Agreement.md")
    answer = await execute(
        service, matter_id, "{IS termination clause} AND {IS unilateral clause}", document_ids=[document_id]
    )
    [result] = answer.document_results
    assert (result.document_id, result.score, result.match_count) == (document_id, 0.75, 1)
    assert "The Provider alone may terminate" in result.matches[0].text


async def test_example_3_a_template_with_an_argument(service: RunningService, matter_id: str) -> None:
    services, nda = (await execute(service, matter_id, '{IS clause obligating "Customer"}')).document_results
    assert (services.score, services.match_count) == (0.625, 1)
    assert (nda.score, nda.match_count) == (0.125, 0)


@pytest.mark.parametrize(
    ("query", "score"),
    [
        ("{IS termination clause} AND {IS unilateral clause}", 0.75),
        ("{IS termination clause} OR {IS unilateral clause}", 0.875),
        ("NOT {IS termination clause}", 0.875),
        ("{IS termination clause} > {IS unilateral clause}", 0.875),
        ("{IS unilateral clause} < {IS termination clause}", 0.875),
        ("{IS termination clause} + {IS unilateral clause}", 0.8125),
    ],
)
async def test_operators_score_as_in_the_table(
    service: RunningService, matter_id: str, query: str, score: float
) -> None:
    services, _ = (await execute(service, matter_id, query)).document_results
    assert services.score == score


async def test_a_comparison_can_be_the_vendors(service: RunningService, matter_id: str) -> None:
    query = "{IS unilateral clause} > {IS termination clause}"
    plain, _ = (await execute(service, matter_id, query)).document_results
    vendors, _ = (await execute(service, matter_id, query, comparison=pb.IQL_COMPARISON_VENDOR)).document_results
    assert (plain.score, vendors.score) == (0.5, 0.0)


async def test_a_match_says_where_it_is(service: RunningService, matter_id: str) -> None:
    services, _ = (await execute(service, matter_id, '{IS clause obligating "Customer"}')).document_results
    [match] = services.matches
    assert match.citation.heading == "4. Fees"
    assert list(match.citation.section_path) == ["Service Agreement", "4. Fees"]
    assert match.citation.label == "Service Agreement.md, 4. Fees"
    assert match.citation.permalink == f"cite:{services.document_id}@{match.start_index}-{match.end_index}"


async def test_an_explained_answer_has_the_score_of_each_node(service: RunningService, matter_id: str) -> None:
    query = "{IS termination clause} AND {IS unilateral clause}"
    services, _ = (await execute(service, matter_id, query, explain=True)).document_results
    assert [one.score for one in services.statement_scores] == [0.875, 0.75]
    assert services.statement_scores[0].statement.startswith("This is a termination clause")
    tree = services.explanation
    assert tree == services.matches[0].explanation
    assert (tree.type, tree.score) == (pb.IQL_NODE_TYPE_AND, 0.75)
    assert [(leaf.type, leaf.template, leaf.score) for leaf in tree.operands] == [
        (pb.IQL_NODE_TYPE_TEMPLATE, "termination clause", 0.875),
        (pb.IQL_NODE_TYPE_TEMPLATE, "unilateral clause", 0.75),
    ]
    assert tree.operands[0].statement == services.statement_scores[0].statement
    plain, _ = (await execute(service, matter_id, query)).document_results
    assert not plain.statement_scores
    assert not plain.HasField("explanation")
    assert not plain.matches[0].HasField("explanation")


async def test_every_match_of_a_document_can_be_had_page_by_page(service: RunningService, matter_id: str) -> None:
    query = "{IS confidentiality clause} OR {IS termination clause}"
    whole, other = (await execute(service, matter_id, query)).document_results
    assert (len(whole.matches), whole.next_page_token, other.next_page_token) == (3, "", "")
    page = (await execute(service, matter_id, query, page_size=1)).document_results[0]
    pages = [page]
    while page.next_page_token:
        answer = await execute(service, matter_id, query, page_size=1, page_token=page.next_page_token)
        assert (answer.document_count, answer.total_matches) == (1, 3)
        [page] = answer.document_results
        pages.append(page)
    assert {page.document_id for page in pages} == {whole.document_id}
    assert [page.truncated for page in pages] == [True, True, False]
    found = [match for page in pages for match in page.matches]
    assert [round(match.score, 3) for match in found] == [0.92, 0.875, 0.875], "the best come first"
    assert sorted(match.start_index for match in found) == [match.start_index for match in whole.matches]


async def test_a_stream_takes_the_token_of_a_document(service: RunningService, matter_id: str) -> None:
    query = "{IS confidentiality clause} OR {IS termination clause}"
    page = (await execute(service, matter_id, query, page_size=2)).document_results[0]
    rest = pb.ExecuteIqlRequest(matter_id=matter_id, query=query, page_token=page.next_page_token)
    steps = [step async for step in service.tools.StreamIql(pb.StreamIqlRequest(query=rest))]
    assert [len(step.document_result.matches) for step in steps] == [1, 0]
    assert steps[-1].summary.document_count == 1


async def test_a_token_is_of_no_use_for_another_query(service: RunningService, matter_id: str) -> None:
    query = "{IS confidentiality clause} OR {IS termination clause}"
    token = (await execute(service, matter_id, query, page_size=1)).document_results[0].next_page_token
    others: list[dict[str, Any]] = [{"min_score": 0.1}, {"comparison": pb.IQL_COMPARISON_VENDOR}, {"query": "{a}"}]
    for other in others:
        asked = pb.ExecuteIqlRequest(matter_id=matter_id, page_token=token, **{"query": query, **other})
        refused = await refusal(service.tools.ExecuteIql(asked))
        assert (refused.code, list(refused.violations)) == (grpc.StatusCode.INVALID_ARGUMENT, ["page_token"])
    assert (await execute(service, matter_id, query, page_token=token, explain=True)).document_results[0].matches


async def test_the_least_score_and_the_most_matches_are_the_callers(service: RunningService, matter_id: str) -> None:
    query = "{IS termination clause}"
    answer = await execute(service, matter_id, query, page_size=1)
    services = answer.document_results[0]
    assert (len(services.matches), services.match_count, services.truncated) == (1, 2, True)
    assert (answer.total_matches, answer.truncated) == (2, True)
    assert (await execute(service, matter_id, query, min_score=0.9)).total_matches == 0
    assert (await execute(service, matter_id, query, min_score=0.0)).total_matches > 2


async def test_without_a_match_the_average_is_zero(service: RunningService, matter_id: str) -> None:
    answer = await execute(service, matter_id, "{something else}")
    assert (answer.total_matches, answer.average_score, answer.document_count) == (0, 0.0, 2)


async def test_the_answer_names_the_model(service: RunningService, matter_id: str) -> None:
    answer = await execute(service, matter_id, "{a}", model="kanon-universal-classifier")
    assert (answer.model, list(answer.warnings)) == ("fixed-classifier", [])
    answer = await execute(service, matter_id, "{a}", model="kanon-universal-classifier-mini")
    assert answer.model == "fixed-classifier"
    assert answer.warnings == ["kanon-universal-classifier-mini is no longer offered; fixed-classifier was used"]
    other = await refused(service, matter_id, model="kanon-3")
    assert (other.code, other.reason, list(other.violations)) == (
        grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST", ["model"],
    )  # fmt: skip


async def test_a_matter_id_that_is_none_is_refused_in_the_contracts_words(service: RunningService) -> None:
    found = await refused(service, "42")
    assert (found.code, found.message) == (grpc.StatusCode.INVALID_ARGUMENT, "Invalid matter ID format")
    assert (found.reason, found.violations) == ("INVALID_REQUEST", {"matter_id": "Invalid matter ID format"})


async def test_a_matter_without_ready_documents_is_refused_in_the_contracts_words(service: RunningService) -> None:
    found = await refused(service, await service.create_matter())
    assert (found.code, found.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "NO_READY_DOCUMENTS")
    assert found.message == "No ready documents found in this matter"


@pytest.mark.parametrize("query", ["", "  ", "{", "{IS confidentiality claus}", "{a} {b}", "x" * 4_001])
async def test_a_query_that_cannot_be_read_is_refused_in_the_contracts_words(
    service: RunningService, matter_id: str, query: str
) -> None:
    found = await refused(service, matter_id, query)
    assert (found.code, found.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_IQL")
    assert found.message.startswith("Invalid IQL query syntax: At character ")
    first = found.details["IqlFaults"].errors[0]
    assert 0 <= first.start <= first.end <= len(query)
    assert found.violations["query"].startswith("At character ")


async def test_a_matter_that_does_not_exist_is_not_found(service: RunningService) -> None:
    for call in (
        execute(service, str(uuid4()), "{a}"),
        service.tools.ParseIql(pb.ParseIqlRequest(query="{a}", matter_id=str(uuid4()))),
    ):
        found = await refusal(call)
        assert (found.code, found.reason) == (grpc.StatusCode.NOT_FOUND, "MATTER_NOT_FOUND")


async def test_a_document_that_cannot_be_analysed_is_there_with_its_error(service: RunningService) -> None:
    matter_id = await service.create_matter(NDA=NDA)
    await service.upload(matter_id, "scan.pdf", b"%PDF-1.7 no pages")
    async for _ in service.matters.WatchDocuments(matters_pb2.WatchDocumentsRequest(matter_id=matter_id)):
        pass
    nda, scan = (await execute(service, matter_id, "{IS confidentiality clause}")).document_results
    assert (nda.error, nda.match_count) == ("", 1)
    assert scan.error.startswith("scan.pdf could not be read: ")
    absent = str(uuid4())
    absent_only = (await execute(service, matter_id, "{a}", document_ids=[absent])).document_results
    assert [(result.document_id, result.error) for result in absent_only] == [
        (absent, "There is no such document in this matter")
    ]


async def test_results_stream_and_end_in_the_totals(service: RunningService, matter_id: str) -> None:
    query = pb.ExecuteIqlRequest(matter_id=matter_id, query="{IS confidentiality clause}")
    steps = [step async for step in service.tools.StreamIql(pb.StreamIqlRequest(query=query))]
    whole = await service.tools.ExecuteIql(query)
    streamed = {step.document_index: step.document_result for step in steps if step.HasField("document_result")}
    assert [streamed[index] for index in range(2)] == list(whole.document_results)
    assert [step.totals.documents_done for step in steps] == [1, 2, 2]
    assert steps[-1].totals.total_matches == 2
    del whole.document_results[:]
    assert steps[-1].summary == whole


async def test_a_stream_is_refused_as_a_call_is(service: RunningService, matter_id: str) -> None:
    async def first(query: pb.ExecuteIqlRequest) -> object:
        return await anext(aiter(service.tools.StreamIql(pb.StreamIqlRequest(query=query))))

    found = await refusal(first(pb.ExecuteIqlRequest(matter_id=matter_id, query="{")))
    assert (found.code, found.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_IQL")
    found = await refusal(first(pb.ExecuteIqlRequest(matter_id="42", query="{a}")))
    assert found.violations == {"query.matter_id": "Invalid matter ID format"}


async def test_cancelling_a_stream_stops_the_work(tmp_path: Path, models_dir: Path) -> None:
    classifier = WordClassifier()
    async with running_service(tmp_path / "data", models_dir, classifier=classifier) as service:
        matter_id = await service.create_matter(Service_Agreement=SERVICES, NDA=NDA)
        classifier.shut()
        query = pb.ExecuteIqlRequest(matter_id=matter_id, query="{fees}")
        stream = service.tools.StreamIql(pb.StreamIqlRequest(query=query))
        await classifier.until_running(2)
        stream.cancel()
        await classifier.until_idle()
        assert classifier.calls == []
        classifier.open()
        assert (await service.tools.ExecuteIql(query)).document_count == 2


async def test_a_query_is_parsed_without_a_model(service: RunningService, matter_id: str) -> None:
    before = CLASSIFIER.calls
    answer = await service.tools.ParseIql(
        pb.ParseIqlRequest(query="{ IS Termination  Clause } and not {new words}", matter_id=matter_id)
    )
    assert answer.canonical == "{IS termination clause} AND NOT {new words}"
    assert [statement.split(":")[0] for statement in answer.statements] == [
        "This is a termination clause", "new words",
    ]  # fmt: skip
    assert answer.estimated_model_calls > 0
    assert CLASSIFIER.calls == before


async def test_a_parsed_querys_tree_says_what_each_node_is_and_where_it_stands(service: RunningService) -> None:
    query = '{A} OR NOT {B} AND {IS clause that "é"} > {C} + {D}'
    answer = await service.tools.ParseIql(pb.ParseIqlRequest(query=query))

    def statement(text: str, start: int) -> pb.IqlNode:
        return pb.IqlNode(type=pb.IQL_NODE_TYPE_STATEMENT, start=start, end=start + 3, statement=text)

    call = pb.IqlNode(type=pb.IQL_NODE_TYPE_TEMPLATE, start=19, end=39, template="clause that", arguments=["é"])
    call.statement = "This is a clause that é."
    average = pb.IqlNode(type=pb.IQL_NODE_TYPE_AVERAGE, start=42, end=51)
    average.operands.extend([statement("C", 42), statement("D", 48)])
    compared = pb.IqlNode(type=pb.IQL_NODE_TYPE_COMPARISON, start=19, end=51, operands=[call, average])
    compared.comparators.append(pb.IQL_COMPARATOR_GREATER)
    inverted = pb.IqlNode(type=pb.IQL_NODE_TYPE_NOT, start=7, end=14, operands=[statement("B", 11)])
    both = pb.IqlNode(type=pb.IQL_NODE_TYPE_AND, start=7, end=51, operands=[inverted, compared])
    assert answer.tree == pb.IqlNode(type=pb.IQL_NODE_TYPE_OR, start=0, end=51, operands=[statement("A", 0), both])


async def test_the_tree_of_the_deepest_query_can_be_read(service: RunningService, matter_id: str) -> None:
    query = "NOT " * 24 + "(" + "{A} OR {A} AND (" * 7 + "{A}" + ")" * 8
    tree = (await execute(service, matter_id, query, explain=True)).document_results[0].explanation
    depth = 1
    while tree.operands:
        tree, depth = tree.operands[-1], depth + 1
    assert depth == 24 + 14 + 1


async def test_templates_are_listed_with_their_arguments(service: RunningService) -> None:
    templates = (await service.tools.ListIqlTemplates(pb.ListIqlTemplatesRequest())).templates
    first = await service.tools.ListIqlTemplates(pb.ListIqlTemplatesRequest(page_size=30))
    token = first.next_page_token
    rest = await service.tools.ListIqlTemplates(pb.ListIqlTemplatesRequest(page_size=30, page_token=token))
    assert ([*first.templates, *rest.templates], rest.next_page_token) == (list(templates), "")
    assert first.total_size == 42
    by_name = {template.name: template for template in templates}
    assert len(by_name) == len(templates) == 42
    obligating = by_name["clause obligating"]
    assert list(obligating.arguments) == ["PARTY"]
    assert "<PARTY>" in obligating.statement
    assert obligating.meaning == "Imposes a duty on the party."


async def test_faults_of_a_parsed_query_are_in_the_answer(service: RunningService) -> None:
    answer = await service.tools.ParseIql(pb.ParseIqlRequest(query="{IS termination claus} AND {}"))
    assert [(error.start, error.end) for error in answer.errors] == [(4, 21), (27, 29)]
    assert "unknown template" in answer.errors[0].message
    assert answer.errors[0].suggestions[0] == "Use the template {IS termination clause}"
    assert (answer.HasField("tree"), answer.canonical, list(answer.statements)) == (False, "", [])


async def test_faults_of_a_parsed_query_come_with_the_edits_that_mend_them(service: RunningService) -> None:
    query = "🔒 {IS termination claus} AND {A}, {B}"
    unknown_words, unknown_template, sign = (await service.tools.ParseIql(pb.ParseIqlRequest(query=query))).errors
    assert [edit.label for edit in unknown_words.edits] == ["Leave it out"]
    template = unknown_template.edits[0]
    assert (template.suggestion, template.label, template.text) == (0, *["{IS termination clause}"] * 2)
    assert query[template.start : template.end] == "{IS termination claus}"
    assert [(edit.suggestion, edit.text) for edit in sign.edits] == [(0, " AND"), (0, " OR")]
    mended = query
    for edit in (sign.edits[1], template, unknown_words.edits[0]):
        mended = mended[: edit.start] + edit.text + mended[edit.end :]
    assert mended == " {IS termination clause} AND {A} OR {B}"
    assert not (await service.tools.ParseIql(pb.ParseIqlRequest(query=mended))).errors
