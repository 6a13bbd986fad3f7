"""The ways of answering a question that are compared. All of them get the same passages."""

from collections.abc import Sequence

import numpy as np

from evals.extraction_data import Asked
from evals.extraction_figures import Given
from evals.fitting import Floats
from proviso_service.embedded import EmbeddedExtractor
from proviso_service.embedded.extractor.answers import JudgedPieces
from proviso_service.embedded.extractor.features import NAMES
from proviso_service.models import Embedder
from proviso_service.reading import Span, readable

_DEPTH = 3
_BM25 = NAMES.index("piece: bm25")


async def by_extractor(extractor: EmbeddedExtractor, put: Asked) -> list[Given]:
    """The extractor's answers from all passages, best first. Of answers with equal scores, the one from the passage
    that search ranks higher comes first."""
    found = await extractor.extract(put.text, [one.passage for one in put.found])
    given = [
        Given(Span(one.start + span.start, one.start + span.end), span.score)
        for one, spans in zip(put.found, found, strict=True)
        for span in spans
    ]
    return sorted(given, key=lambda one: -one.score)


def by_search(put: Asked, judged: JudgedPieces) -> list[Given]:
    """The first sentences of the passages that search ranks first."""
    firsts = [judged.owners.index(owner) for owner in dict.fromkeys(judged.owners)]
    return [Given(_place(put, judged, index), 0.0) for index in firsts[:_DEPTH]]


def by_words(put: Asked, judged: JudgedPieces) -> list[Given]:
    """The sentences with the highest BM25 scores."""
    return _best(put, judged, judged.rows[:, _BM25])


async def by_meaning(put: Asked, judged: JudgedPieces, embedder: Embedder) -> list[Given]:
    """The sentences whose embeddings are closest to that of the question."""
    if not judged.pieces:
        return []
    vectors = await embedder.embed_documents([readable(piece.text) for piece in judged.pieces])
    return _best(put, judged, (vectors @ await embedder.embed_query(put.text)).astype(np.float64))


def whole_sentences(put: Asked, judged: JudgedPieces, given: Sequence[Given]) -> list[Given]:
    """The sentences that hold the extractor's answers, instead of the answers themselves."""
    places = [_place(put, judged, index) for index in range(len(judged.pieces))]
    return [Given(_around(one.span, places), one.score) for one in given]


def _around(span: Span, places: Sequence[Span]) -> Span:
    return next((one for one in places if one.start <= span.start and span.end <= one.end), span)


def _best(put: Asked, judged: JudgedPieces, scores: Floats) -> list[Given]:
    order = np.argsort(-scores, kind="stable")[:_DEPTH].tolist()
    return [Given(_place(put, judged, index), 0.0) for index in order]


def _place(put: Asked, judged: JudgedPieces, index: int) -> Span:
    piece, start = judged.pieces[index], put.found[judged.owners[index]].start
    return Span(start + piece.start, start + piece.end)
