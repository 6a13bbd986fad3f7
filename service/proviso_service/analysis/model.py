"""Values of IQL queries and what they find."""

from collections.abc import Sequence
from dataclasses import dataclass

from proviso_service.iql import ComparisonMode, Expression, Problem
from proviso_service.reading import Chunk

DEFAULT_MAX_MATCHES = 20

DEFAULT_MAX_MATCHES_IN_ALL = 3_000
"""About as many as fit into an answer."""


@dataclass(frozen=True, slots=True)
class IqlQuery:
    """A query to a matter. Empty `document_ids` means all of its documents. `model` empty, and `min_score` and
    `comparison` None, mean what the settings say. At most `max_matches` are returned of a document, fewer of each where
    there are more than `max_matches_in_all`; with `explain`, results carry the scores of each statement and of each
    node of the query's tree."""

    matter_id: str
    query: str
    document_ids: Sequence[str] = ()
    model: str = ""
    min_score: float | None = None
    comparison: ComparisonMode | None = None
    max_matches: int = DEFAULT_MAX_MATCHES
    max_matches_in_all: int = DEFAULT_MAX_MATCHES_IN_ALL
    explain: bool = False


@dataclass(frozen=True, slots=True)
class StatementScore:
    """What a statement, templates expanded, scores by itself."""

    statement: str
    score: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a score came about: what each statement scores, and each node of the query's tree, in pre-order."""

    statements: tuple[StatementScore, ...] = ()
    nodes: tuple[float, ...] = ()


UNEXPLAINED = Explanation()


@dataclass(frozen=True, slots=True)
class IqlMatch:
    """A chunk above the query's min_score; `explanation` only where the query asks to explain."""

    chunk: Chunk
    score: float
    explanation: Explanation = UNEXPLAINED


@dataclass(frozen=True, slots=True)
class DocumentResult:
    """What a query finds in one document, the `index`-th of those asked about. `score` is the maximum over its chunks,
    `matches` the best of all `match_count` by position, `score_sum` the sum over all of them. `explanation` has each
    statement's maximum over the chunks, and the nodes of the chunk with the highest score. With an `error` the document
    was not analysed."""

    index: int
    document_id: str
    filename: str
    score: float = 0.0
    matches: tuple[IqlMatch, ...] = ()
    match_count: int = 0
    score_sum: float = 0.0
    explanation: Explanation = UNEXPLAINED
    error: str = ""

    @property
    def truncated(self) -> bool:
        return self.match_count > len(self.matches)


@dataclass(frozen=True, slots=True)
class IqlSummary:
    """The totals of a query, of as many documents as are done."""

    query: str
    model: str
    warnings: tuple[str, ...]
    document_count: int
    documents_done: int = 0
    total_matches: int = 0
    score_sum: float = 0.0

    @property
    def average_score(self) -> float:
        """Mean score of all matches; 0 without any."""
        return self.score_sum / self.total_matches if self.total_matches else 0.0


@dataclass(frozen=True, slots=True)
class IqlOutcome:
    """Results in the order of the request, else of upload."""

    summary: IqlSummary
    results: tuple[DocumentResult, ...]


@dataclass(frozen=True, slots=True)
class IqlProgress:
    """The totals after one more document; the last has no `result`."""

    summary: IqlSummary
    result: DocumentResult | None = None


@dataclass(frozen=True, slots=True)
class Inspection:
    """A query that was read but not run: its tree, or its problems. `estimated_calls` counts the passages that a model
    would have to score on a matter, each once for every statement."""

    query: str
    tree: Expression | None
    problems: tuple[Problem, ...] = ()
    estimated_calls: int = 0
