"""Values of IQL queries and of what they find."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import Field

from proviso_service.analysis.likelihood import USUAL_BANDS, Bands
from proviso_service.errors import FailureCause, FieldViolation, InvalidRequest
from proviso_service.iql import ComparisonMode, Expression, IqlSyntaxError, Problem
from proviso_service.paging import PageRequest, moment_in, page_token
from proviso_service.reading import Chunk
from proviso_service.settings import Fraction, IqlSettings, Seconds

DEFAULT_MAX_MATCHES = 20


class IqlConfig(IqlSettings):
    """The limits of queries, and what is kept of their scores."""

    min_score: Fraction = Field(0.5, description="A chunk above this score is a match, where the request names none.")
    time_limit_s: Seconds = Field(
        45.0, description="Time limit of a query; in a stream of results, of each batch of documents."
    )
    judged_passages: int = Field(
        30,
        ge=0,
        le=200,
        description="Most passages of a statement that the embedded judge reads; 0 for none.",
    )
    batches_at_once: int = Field(4, ge=1, le=64, description="Batches of passages that are scored at once.")
    max_cached_scores: int = Field(5_000_000, ge=0, description="Most scores that are kept in memory.")
    max_kept_statements: int = Field(
        1_000, ge=128, description="Most statements of a document whose scores are stored."
    )


DEFAULT_MAX_MATCHES_IN_ALL = 3_000
"""About as many matches as fit into an answer."""


@dataclass(frozen=True, slots=True)
class IqlQuery:
    """A query to a matter. Empty `document_ids` mean all of its documents. An empty `model`, and None for `min_score`
    and `comparison`, mean the values of the settings. At most `max_matches` of a document are returned, and fewer of
    each where there would be more than `max_matches_in_all`. `page_token` asks for what a page before left out. With
    `explain`, results carry the scores of each statement and of each node of the query's tree."""

    matter_id: str
    query: str
    document_ids: Sequence[str] = ()
    model: str = ""
    min_score: float | None = None
    comparison: ComparisonMode | None = None
    max_matches: int = DEFAULT_MAX_MATCHES
    max_matches_in_all: int = DEFAULT_MAX_MATCHES_IN_ALL
    page_token: str = ""
    explain: bool = False


@dataclass(frozen=True, slots=True)
class PageStart:
    """Where a page begins: with the match `first_match` of a document, counted from 0, best first, and then the page is
    about this document alone; or, where that is None, with this document of the query or matter. `upload_time` tells
    where it stood, should it be deleted."""

    document_id: str
    first_match: int | None = None
    upload_time: datetime | None = None

    @classmethod
    def of(cls, token: str, scope: Sequence[str]) -> "PageStart | None":
        """Reads a token; None for an empty one. Raises InvalidRequest for one that `token` did not make."""
        key = PageRequest(token=token).after(scope, 2)
        if key is None:
            return None
        document_id, place = key
        if place.isdecimal():
            return cls(document_id, int(place))
        return cls(document_id, upload_time=moment_in(place) if place else None)

    def token(self, scope: Sequence[str]) -> str:
        """The page token of this start."""
        uploaded = self.upload_time.isoformat() if self.upload_time else ""
        return page_token(scope, self.document_id, uploaded if self.first_match is None else str(self.first_match))


@dataclass(frozen=True, slots=True)
class StatementScore:
    """The score of one statement by itself, with templates expanded."""

    statement: str
    score: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a score came about: the query's tree, and the score of each of its nodes in pre-order."""

    tree: Expression
    nodes: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class IqlMatch:
    """A chunk above the query's `min_score`. The `explanation` is filled in only where the query asks for it."""

    chunk: Chunk
    score: float
    explanation: Explanation | None = None


class InvalidIql(InvalidRequest):
    """A query that cannot be read. The message names every fault in one line; `problems` are the faults, in the order
    of the query."""

    def __init__(self, error: IqlSyntaxError) -> None:
        super().__init__(
            [FieldViolation("query", f"At character {one.span.start + 1}, {one.message}") for one in error.problems]
        )
        self.message = f"Invalid IQL query syntax: {error.details}"
        self.problems = error.problems


@dataclass(frozen=True, slots=True)
class DocumentResult:
    """What a query finds in one document, the `index`-th of those asked about. `score` is the maximum over its chunks;
    `matches`, by position, are the best of all `match_count` after the `first` ones; `score_sum` is the sum over all
    matches. Where the query asks for it, `statement_scores` has each statement's maximum over the chunks, and
    `explanation` the tree of the chunk with the highest score. A document with an `error` was not
    analysed; `cause` says why for programs. A document that is not there has no `upload_time`."""

    index: int
    document_id: str
    filename: str
    score: float = 0.0
    matches: tuple[IqlMatch, ...] = ()
    match_count: int = 0
    score_sum: float = 0.0
    statement_scores: tuple[StatementScore, ...] = ()
    explanation: Explanation | None = None
    error: str = ""
    cause: FailureCause | None = None
    first: int = 0
    upload_time: datetime | None = None

    @property
    def truncated(self) -> bool:
        return self.match_count > self.first + len(self.matches)


@dataclass(frozen=True, slots=True)
class IqlSummary:
    """The totals of a query over the documents that are done. `scope` is what its page tokens hold for."""

    query: str
    model: str
    warnings: tuple[str, ...]
    document_count: int
    documents_done: int = 0
    total_matches: int = 0
    score_sum: float = 0.0
    scope: tuple[str, ...] = ()
    bands: Bands = USUAL_BANDS

    @property
    def average_score(self) -> float:
        """The mean score of all matches; 0 when there are none."""
        return self.score_sum / self.total_matches if self.total_matches else 0.0


@dataclass(frozen=True, slots=True)
class IqlOutcome:
    """The results of a query on the documents of a page, in the order of the request, or else of upload; the summary
    counts all documents."""

    summary: IqlSummary
    results: tuple[DocumentResult, ...]


@dataclass(frozen=True, slots=True)
class IqlProgress:
    """The totals after one more document; the last progress has no `result`."""

    summary: IqlSummary
    result: DocumentResult | None = None


@dataclass(frozen=True, slots=True)
class Inspection:
    """A query that was read but not run: its tree, or its problems. `estimated_calls` is the number of passages that a
    model would have to score on a matter, counted once for every statement, but not for a party's other names."""

    query: str
    tree: Expression | None
    problems: tuple[Problem, ...] = ()
    estimated_calls: int = 0
