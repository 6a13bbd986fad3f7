"""IQL queries and classification over SQLite and a classifier that knows words."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proviso_service.analysis.classification import Classification, ClassifyOutcome, ClassifyQuery, ClauseTypes
from proviso_service.analysis.document_scoring import DocumentScoring
from proviso_service.analysis.judging import Judging
from proviso_service.analysis.model import DocumentResult, IqlConfig, IqlOutcome, IqlQuery
from proviso_service.analysis.scores import ScoreCache
from proviso_service.analysis.scoring import PASSAGES_AT_ONCE, Scorer
from proviso_service.analysis.service import IqlAnalysis
from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.backends.sql.scores import SqlScoreStore
from proviso_service.iql import TemplateCatalog
from proviso_service.matters.model import Document, DocumentStatus, Matter
from proviso_service.models import Classifier, StatementJudge
from proviso_service.reading.model import Chunk, ParsedDocument
from tests.support.migrated import state_in
from tests.support.stored import MODEL, a_document, ingested, set_status, vectors_of
from tests.support.word_classifier import WordClassifier

TENANT = "acme"


@dataclass
class AnalysisWorld:
    database: Database
    store: SqlMatterStore
    scores: SqlScoreStore
    classifier: WordClassifier
    matter: Matter
    analysis: IqlAnalysis
    classification: Classification

    def restarted(self, classifier: Classifier | None = None, **settings: Any) -> IqlAnalysis:
        """Another life of the service: nothing is in memory."""
        return _opened(self.store, self.scores, classifier or self.classifier, IqlConfig(**settings))[0]

    def restart(self, judge: StatementJudge | None = None, **settings: Any) -> None:
        opened = _opened(self.store, self.scores, self.classifier, IqlConfig(**settings), judge=judge)
        self.analysis, self.classification = opened

    async def add(self, *passages: str, filename: str = "lease.txt") -> Document:
        """A READY document of one chunk for each passage."""
        return await ingested(self.store, self.matter, *passages, filename=filename)

    async def add_under(self, *passages: tuple[str, Sequence[str]], filename: str = "lease.txt") -> Document:
        """A READY document of passages with the headings above them."""
        document, _ = await self.store.add_document(a_document(self.matter, filename))
        chunks: list[Chunk] = []
        start = 0
        for ordinal, (text, path) in enumerate(passages):
            chunks.append(Chunk(ordinal, start, start + len(text), text, ordinal + 1, tuple(path)))
            start += len(text) + 1
        parsed = ParsedDocument("\n".join(text for text, _ in passages))
        return await self.store.commit_ready(document, parsed, chunks, MODEL, vectors_of(chunks))

    async def add_unready(self, status: DocumentStatus, reason: str = "", filename: str = "slow.pdf") -> Document:
        document, _ = await self.store.add_document(a_document(self.matter, filename))
        return await set_status(self.store, document, status, reason)

    async def ask(self, query: str, *documents: Document, **options: Any) -> IqlOutcome:
        ids = [document.document_id for document in documents]
        return await self.analysis.execute(TENANT, IqlQuery(self.matter.matter_id, query, document_ids=ids, **options))

    async def classify(self, *clause_types: str, **options: Any) -> ClassifyOutcome:
        query = ClassifyQuery(self.matter.matter_id, clause_types, **options)
        return await self.classification.classify(TENANT, query)

    async def ask_one(self, query: str, **options: Any) -> DocumentResult:
        """The result of a matter's only document."""
        [result] = (await self.ask(query, **options)).results
        return result

    def asked(self) -> list[tuple[str, str]]:
        """(statement, passage) of every judgement since the last time."""
        calls = list(self.classifier.calls)
        self.classifier.calls.clear()
        return calls


def _opened(
    store: SqlMatterStore,
    scores: SqlScoreStore,
    classifier: Classifier,
    settings: IqlConfig,
    batch_passages: int = PASSAGES_AT_ONCE,
    judge: StatementJudge | None = None,
) -> tuple[IqlAnalysis, Classification]:
    cache = ScoreCache(settings.max_cached_scores)
    scorer = Scorer(classifier, scores, cache, MODEL, settings.max_kept_statements)
    judging = Judging(judge, scores, settings.judged_passages) if judge else None
    scoring = DocumentScoring(scorer, settings, batch_passages, judging)
    templates = TemplateCatalog.load()
    return (
        IqlAnalysis(store, scores, scoring, templates, settings),
        Classification(store, scores, scoring, ClauseTypes(templates), settings),
    )


@asynccontextmanager
async def analysis_world(
    folder: Path, batch_passages: int = PASSAGES_AT_ONCE, **settings: Any
) -> AsyncIterator[AnalysisWorld]:
    database = Database(state_in(folder))
    store, scores, classifier = SqlMatterStore(database), SqlScoreStore(database), WordClassifier()
    matter = await store.create_matter(TENANT, "Leases")
    opened = _opened(store, scores, classifier, IqlConfig(**settings), batch_passages)
    try:
        yield AnalysisWorld(database, store, scores, classifier, matter, *opened)
    finally:
        await database.close()
