"""What a query asks for, settled before anything is scored."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proviso_service.analysis.model import IqlQuery, IqlSummary
from proviso_service.errors import FieldViolation, InvalidIql, InvalidRequest, NoReadyDocuments
from proviso_service.iql import (
    ComparisonMode,
    Expression,
    IqlSyntaxError,
    Limits,
    TemplateCatalog,
    parse,
    statements,
)
from proviso_service.matters.model import Document, DocumentStatus
from proviso_service.matters.service import why_not_ready
from proviso_service.settings import IqlSettings

KANON = "kanon-universal-classifier"
KANON_MINI = "kanon-universal-classifier-mini"

NO_SUCH_DOCUMENT = "There is no such document in this matter"


@dataclass(frozen=True, slots=True)
class Target:
    """A document that a query is to be answered for; `error` says why it can't be. `document` is None only then."""

    index: int
    document_id: str
    document: Document | None
    error: str = ""

    @property
    def filename(self) -> str:
        return self.document.filename if self.document else ""


@dataclass(frozen=True, slots=True)
class Plan:
    tenant: str
    query: IqlQuery
    tree: Expression
    statements: tuple[str, ...]
    min_score: float
    comparison: ComparisonMode
    model: str
    warnings: tuple[str, ...]
    targets: tuple[Target, ...]

    @property
    def summary(self) -> IqlSummary:
        """Before the first document."""
        return IqlSummary(self.query.query, self.model, self.warnings, len(self.targets))


class Planner:
    """Reads queries; `model_id` names the classifier there is."""

    def __init__(self, catalog: TemplateCatalog, settings: IqlSettings, model_id: str) -> None:
        self.templates = catalog
        self._settings = settings
        self._limits = Limits(settings.max_length, settings.max_statements, settings.max_depth)
        self._model_id = model_id

    def tree(self, query: str) -> Expression:
        """Raises IqlSyntaxError."""
        return parse(query, self.templates, self._limits)

    def plan(self, tenant: str, query: IqlQuery, tree: Expression, documents: Sequence[Document]) -> Plan:
        """For a matter's `documents`, in the order of upload. Raises InvalidRequest for a model that is not there, and
        NoReadyDocuments."""
        warnings = tuple(self._warnings(query.model))
        if not any(document.status is DocumentStatus.READY for document in documents):
            raise NoReadyDocuments
        return Plan(
            tenant=tenant,
            query=query,
            tree=tree,
            statements=statements(tree),
            min_score=self._settings.min_score if query.min_score is None else query.min_score,
            comparison=query.comparison or ComparisonMode(self._settings.comparison),
            model=self._model_id,
            warnings=warnings,
            targets=tuple(_targets(documents, query.document_ids)),
        )

    def _warnings(self, model: str) -> Iterator[str]:
        if model == KANON_MINI:
            yield f"{KANON_MINI} is no longer offered; {self._model_id} was used"
        elif model not in ("", KANON, self._model_id):
            known = ", ".join(dict.fromkeys((KANON, KANON_MINI, self._model_id)))
            raise InvalidRequest.of("model", f"must be one of {known}")


def invalid_iql(error: IqlSyntaxError) -> InvalidIql:
    violations = [
        FieldViolation("query", f"At character {problem.span.start + 1}, {problem.message}")
        for problem in error.problems
    ]
    first = error.problems[0].span
    return InvalidIql(error.details, violations, first.start, first.end)


def _targets(documents: Sequence[Document], document_ids: Sequence[str]) -> Iterator[Target]:
    """Those asked for, in their order; else all."""
    by_id = {document.document_id: document for document in documents}
    for index, document_id in enumerate(document_ids or by_id):
        document = by_id.get(document_id)
        yield Target(index, document_id, document, _error(document))


def _error(document: Document | None) -> str:
    if document is None:
        return NO_SUCH_DOCUMENT
    return "" if document.status is DocumentStatus.READY else why_not_ready(document)
