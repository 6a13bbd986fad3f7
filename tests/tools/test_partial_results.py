"""Results of which a part is missing are not kept for later."""

from dataclasses import replace

import pytest

from proviso_service.analysis.document_scoring import TargetDocument
from proviso_service.analysis.extraction import ExtractOutcome, ExtractQuery
from proviso_service.matters.model import SearchOutcome, SearchQuery
from proviso_service.tools.base import MaybePartial
from proviso_service.tools.extract import ExtractResult
from proviso_service.tools.retriever import DocumentationResult
from proviso_service.tools.search import SearchResult

SEARCHED = SearchOutcome(SearchQuery("m", "rent"), (), ())
EXTRACTED = ExtractOutcome(ExtractQuery("m", "When?"), "model", None, (), ())


@pytest.mark.parametrize(
    ("result", "partial"),
    [
        (SearchResult(SEARCHED), False),
        (SearchResult(replace(SEARCHED, rerank_failed=True)), True),
        (DocumentationResult(SEARCHED), False),
        (DocumentationResult(replace(SEARCHED, rerank_failed=True)), True),
        (ExtractResult(EXTRACTED), False),
        (ExtractResult(replace(EXTRACTED, rerank_failed=True)), True),
        (
            ExtractResult(replace(EXTRACTED, failed=(TargetDocument(0, "d", None, "It is still being processed"),))),
            True,
        ),
    ],
)
def test_a_result_says_whether_a_part_is_missing(result: MaybePartial, partial: bool) -> None:
    assert isinstance(result, MaybePartial)
    assert result.partial is partial
