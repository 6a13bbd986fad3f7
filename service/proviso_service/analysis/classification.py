"""Finds the clauses of given types: every passage of every document is judged by every type."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from proviso_service.analysis.document_scoring import (
    DocumentScoring,
    ScoredDocument,
    ScoringJob,
    TargetDocument,
    find_targets,
)
from proviso_service.analysis.likelihood import USUAL_BANDS, Bands
from proviso_service.analysis.model import IqlConfig
from proviso_service.analysis.scores import ScoreStore
from proviso_service.errors import FieldViolation, InvalidRequest
from proviso_service.iql import IqlSyntaxError, Statement, Template, TemplateCatalog, parse
from proviso_service.matters import MatterStore, chunk_id, uuid_of, uuids_of
from proviso_service.paging import offset_in
from proviso_service.reading import Chunk

_DEFAULTS = {
    "Termination": "{IS termination clause}",
    "Indemnity": "{IS indemnity clause}",
    "Limitation of Liability": "{IS liability limitation clause}",
    "Confidentiality": "{IS confidentiality clause}",
    "Non-Compete": "{IS non-compete clause}",
    "Force Majeure": "{IS force majeure clause}",
    "Dispute Resolution": "{IS dispute resolution clause}",
    "Governing Law": "{IS governing law clause}",
    "Assignment": "{IS assignment clause}",
    "Warranty": "{IS representation or warranty clause}",
    "Payment Terms": "{IS payment clause}",
    "Intellectual Property": "{IS ip assignment or license}",
    "Insurance": "{IS insurance clause}",
    "Notice": "{IS notice clause}",
    "Amendment": "{IS amendment clause}",
}
"""The statements of the default types, in the query language: what a template asks for shares its scores with
queries."""

DEFAULT_CLAUSE_TYPES = tuple(_DEFAULTS)

_BY_KEY = {name.casefold(): query for name, query in _DEFAULTS.items()}
_KIND = re.compile(r"\s+(?:clauses?|provisions?)$", re.IGNORECASE)
_IS_SENTENCE = re.compile(r"this\s.+|.+\s.+[.!?]", re.IGNORECASE | re.DOTALL)


class ClauseTypes:
    """Turns clause types into statements, with the language's words where it has a template for a type."""

    def __init__(self, catalog: TemplateCatalog) -> None:
        self._catalog = catalog

    def statements(self, clause_types: Sequence[str]) -> dict[str, str]:
        """Returns the statements by type, each type once and in order; those of the default types when none is given. A
        type is a name ("Audit rights"), a sentence, or a statement of the query language in braces. Raises
        InvalidRequest that names every type that is none of these."""
        found: dict[str, str] = {}
        violations: list[FieldViolation] = []
        for index, given in enumerate(clause_types or DEFAULT_CLAUSE_TYPES):
            name = " ".join(given.split())
            try:
                found[name] = self._statement(name)
            except ValueError as error:
                violations.append(FieldViolation(f"clause_types[{index}]", str(error)))
        if violations:
            raise InvalidRequest(violations)
        return found

    def _statement(self, name: str) -> str:
        if not name:
            raise ValueError("must not be blank")
        if "{" in name or "}" in name:
            return self._in_braces(name)
        if _IS_SENTENCE.fullmatch(name):
            return name
        bare = _KIND.sub("", name)
        if query := _BY_KEY.get(bare.casefold()):
            return self._in_braces(query)
        return self._template(name) or self._template(f"{bare} clause") or f"This is a clause about {_spoken(bare)}."

    def _template(self, name: str) -> str:
        """Returns a template's statement; empty where there is no template of this name, or where it needs
        arguments."""
        definition = self._catalog.get(name)
        return definition.statement if definition and not definition.arguments else ""

    def _in_braces(self, text: str) -> str:
        try:
            tree = parse(text, self._catalog)
        except IqlSyntaxError as error:
            raise ValueError(error.details) from error
        match tree:
            case Statement() | Template():
                return tree.text
        raise ValueError("must be one statement, without operators")


def _spoken(name: str) -> str:
    """Returns a title in lower case, except for abbreviations: "IP ownership"."""
    return " ".join(word.lower() if word[1:] == word[1:].lower() else word for word in name.split())


DEFAULT_MAX_CLAUSES = 200

DOCUMENTS_AT_ONCE = 64
"""So many documents are looked through in one step of the event loop."""

_Numbers = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class ClassifyQuery:
    """Which clauses to find. Empty `clause_types` mean the default types, and empty `document_ids` the whole matter. A
    clause scores above `min_confidence`; None means the least score of a match in the settings. At most `max_clauses`
    are returned, the best of each type; `page_token` asks for the best of those that a page before left out."""

    matter_id: str
    clause_types: Sequence[str] = ()
    document_ids: Sequence[str] = ()
    min_confidence: float | None = None
    max_clauses: int = DEFAULT_MAX_CLAUSES
    page_token: str = ""


@dataclass(frozen=True, slots=True)
class Clause:
    """A passage that is of a type; a passage of several types is one clause of each. `rank` is its place among all
    clauses found, counted from 0 in the order in which pages take them."""

    clause_type: str
    confidence: float
    document_id: str
    filename: str
    chunk: Chunk
    rank: int = 0


@dataclass(frozen=True, slots=True)
class TypeCount:
    """How many clauses of a type were found, and in how many documents."""

    clause_type: str
    clauses: int
    documents: int


@dataclass(frozen=True, slots=True)
class ClassifyOutcome:
    """The clauses of a page, by document and position; `end` is the rank of the first clause after them. `scope` is
    what page tokens hold for. `counts`, in the order of the request, are of all clauses that were found;
    `documents_found` are the ids of the documents of all of them. `failed` are the documents that were not analysed,
    each with its error."""

    query: ClassifyQuery
    model: str
    clauses: tuple[Clause, ...]
    counts: tuple[TypeCount, ...]
    failed: tuple[TargetDocument, ...]
    documents_found: frozenset[str] = frozenset()
    scope: tuple[str, ...] = ()
    end: int = 0
    bands: Bands = USUAL_BANDS

    @property
    def total_found(self) -> int:
        return sum(count.clauses for count in self.counts)


@dataclass(frozen=True, slots=True)
class ClauseHits:
    """Passages of types, as arrays of one length: which document, which of its passages, which type, and how surely.
    Those of a page have their ranks, too."""

    documents: _Numbers
    ordinals: _Numbers
    types: _Numbers
    scores: NDArray[np.float32]
    ranks: _Numbers = field(default_factory=lambda: np.empty(0, dtype=np.intp))

    def best(self, most: int, first: int = 0) -> "ClauseHits":
        """Returns at most so many after the `first` ones, chosen in the order of `by_turns` and sorted by document,
        position and type."""
        of_kinds = [self._surest(kind, first + most) for kind in np.unique(self.types)]
        turns = _joined([np.arange(len(of_kind)) for of_kind in of_kinds])
        surest = _joined(of_kinds)
        kept = surest[np.lexsort((surest, -self.scores[surest], turns))[first : first + most]]
        places = np.lexsort((self.types[kept], self.ordinals[kept], self.documents[kept]))
        order = kept[places]
        return ClauseHits(
            self.documents[order], self.ordinals[order], self.types[order], self.scores[order], first + places
        )

    def _surest(self, kind: int, most: int) -> _Numbers:
        """Returns where the best hits of a type stand, the surest first, and of equal ones the first."""
        of_kind = np.flatnonzero(self.types == kind)
        if len(of_kind) > most > 0:  # Only what may be among the best is sorted.
            of_kind = of_kind[self.scores[of_kind] >= np.partition(self.scores[of_kind], -most)[-most]]
        return of_kind[np.argsort(-self.scores[of_kind], kind="stable")][:most]


def by_turns(clauses: Sequence[Clause]) -> list[list[Clause]]:
    """Groups clauses into turns: the surest of each type, then the second surest of each, and so on; in a turn, the
    surest comes first. So where not all can be shown, no type crowds out another."""
    seen = Counter[str]()
    turns: list[list[Clause]] = []
    for clause in sorted(clauses, key=lambda clause: -clause.confidence):
        turn = seen[clause.clause_type]
        seen[clause.clause_type] += 1
        if turn == len(turns):
            turns.append([])
        turns[turn].append(clause)
    return turns


class Classification:
    """Classifies by the scores of statements, which it shares with queries."""

    def __init__(
        self,
        store: MatterStore,
        scores: ScoreStore,
        documents: DocumentScoring,
        clause_types: ClauseTypes,
        settings: IqlConfig,
        bands: Bands = USUAL_BANDS,
    ) -> None:
        self._store = store
        self._scores = scores
        self._documents = documents
        self._clause_types = clause_types
        self._bands = bands
        self._min_confidence = settings.min_score

    async def classify(self, tenant: str, query: ClassifyQuery) -> ClassifyOutcome:
        """Finds clauses. Documents that cannot be analysed are named and do not disturb the others. When no document
        could be analysed, and for an error that a caller is told about, that error is raised.

        Raises InvalidRequest, MatterNotFound and NoReadyDocuments."""
        matter_id = uuid_of("matter_id", query.matter_id)
        document_ids = uuids_of("document_ids", query.document_ids)
        statements = self._clause_types.statements(query.clause_types)
        targets = await find_targets(self._store, tenant, matter_id, document_ids)
        scored = await self._documents.all(ScoringJob(tenant, tuple(dict.fromkeys(statements.values())), targets))
        least = self._min_confidence if query.min_confidence is None else query.min_confidence
        hits = await _hits(scored, tuple(statements.values()), least)
        analysed = [one.target.document_id for one in scored if not one.error]
        asked = json.dumps([matter_id, list(document_ids), statements, least])
        scope = ("classify", self._documents.model_id, asked, *analysed)
        page = hits.best(query.max_clauses, offset_in(query.page_token, scope))
        return ClassifyOutcome(
            query=query,
            model=self._documents.model_id,
            clauses=await self._clauses(tenant, targets, tuple(statements), page),
            counts=tuple(_counts(hits, tuple(statements))),
            failed=tuple(replace(one.target, error=one.error, cause=one.cause) for one in scored if one.error),
            documents_found=frozenset(targets[index].document_id for index in np.unique(hits.documents).tolist()),
            scope=scope,
            end=int(page.ranks.max(initial=-1)) + 1,
            bands=self._bands,
        )

    async def _clauses(
        self, tenant: str, targets: Sequence[TargetDocument], names: Sequence[str], hits: ClauseHits
    ) -> tuple[Clause, ...]:
        """Returns the clauses with their passages; a document that was deleted meanwhile has none."""
        found = [
            (targets[document], chunk_id(targets[document].document_id, ordinal), names[kind], score, rank)
            for document, ordinal, kind, score, rank in zip(
                *(part.tolist() for part in (hits.documents, hits.ordinals, hits.types, hits.scores, hits.ranks)),
                strict=True,
            )
        ]
        chunks = await self._scores.matched_chunks(tenant, list(dict.fromkeys(key for _, key, _, _, _ in found)))
        return tuple(
            Clause(name, score, target.document_id, target.filename, chunks[key], rank)
            for target, key, name, score, rank in found
            if key in chunks
        )


async def _hits(scored: Sequence[ScoredDocument], statements: Sequence[str], least: float) -> ClauseHits:
    """Returns the passages that score above `least`; the i-th of `statements` is that of the i-th type."""
    documents, ordinals, types, scores = [], [], [], []
    for number, one in enumerate(scored):
        if number % DOCUMENTS_AT_ONCE == 0:
            await asyncio.sleep(0)  # Other work on the event loop gets its turn.
        if not one.error:
            by_type = np.stack([one.scores[statement] for statement in statements])
            kinds, places = np.nonzero(by_type > least)
            documents.append(np.full(len(kinds), one.target.index, dtype=np.intp))
            ordinals.append(places)
            types.append(kinds)
            scores.append(by_type[kinds, places])
    return ClauseHits(
        _joined(documents), _joined(ordinals), _joined(types), np.concatenate([np.empty(0, "f4"), *scores])
    )


def _joined(parts: Sequence[_Numbers]) -> _Numbers:
    return np.concatenate([np.empty(0, dtype=np.intp), *parts])


def _counts(hits: ClauseHits, names: Sequence[str]) -> list[TypeCount]:
    counts = np.bincount(hits.types, minlength=len(names))
    held = np.unique(hits.documents * len(names) + hits.types)  # Each type counts once for each document.
    documents = np.bincount(held % len(names), minlength=len(names))
    return [TypeCount(name, int(counts[i]), int(documents[i])) for i, name in enumerate(names)]
