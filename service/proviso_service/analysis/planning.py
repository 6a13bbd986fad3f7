"""What a query asks for, settled before anything is scored."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proviso_service.analysis.document_scoring import Job
from proviso_service.analysis.model import IqlQuery, IqlSummary
from proviso_service.analysis.targets import Target
from proviso_service.errors import FieldViolation, InvalidIql, InvalidRequest
from proviso_service.iql import (
    ComparisonMode,
    Expression,
    IqlSyntaxError,
    Limits,
    TemplateCatalog,
    parse,
    statements,
)
from proviso_service.settings import IqlSettings

KANON = "kanon-universal-classifier"
KANON_MINI = "kanon-universal-classifier-mini"


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
    def job(self) -> Job:
        return Job(self.tenant, self.statements, self.targets)

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

    def plan(self, tenant: str, query: IqlQuery, tree: Expression, targets: Sequence[Target]) -> Plan:
        """Raises InvalidRequest for a model that is not there."""
        return Plan(
            tenant=tenant,
            query=query,
            tree=tree,
            statements=statements(tree),
            min_score=self._settings.min_score if query.min_score is None else query.min_score,
            comparison=query.comparison or ComparisonMode(self._settings.comparison),
            model=self._model_id,
            warnings=tuple(self._warnings(query.model)),
            targets=tuple(targets),
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
