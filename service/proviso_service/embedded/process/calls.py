"""The calls of models as messages: what the service asks for, and how a process does it."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from proviso_service.embedded.classifier.model import EmbeddedClassifier
from proviso_service.embedded.extractor.model import EmbeddedExtractor
from proviso_service.embedded.minilm import MiniLmEmbedder
from proviso_service.embedded.process.messages import Array, Message
from proviso_service.embedded.reranker import EmbeddedReranker
from proviso_service.models import ModelPassage, PassageWords, ReadPassages, WordLists


class Method(StrEnum):
    """A method of one of the ports."""

    EMBED_QUERY = "embed_query"
    EMBED_DOCUMENTS = "embed_documents"
    SCORE = "score"
    SCORE_READ = "score_read"
    JUDGE = "judge"
    EXTRACT = "extract"
    RERANK = "rerank"


@dataclass(frozen=True, slots=True)
class ProcessModels:
    """The models in a process."""

    embedder: MiniLmEmbedder
    classifier: EmbeddedClassifier
    extractor: EmbeddedExtractor
    reranker: EmbeddedReranker


def of_passages(method: Method, text: str, passages: Sequence[ModelPassage]) -> Message:
    """A call about passages, with the vectors of those that have one."""
    parts = [(passage.text, passage.section_path, passage.vector is not None) for passage in passages]
    vectors = [passage.vector for passage in passages if passage.vector is not None]
    return Message({"method": method, "text": text, "passages": parts}, [np.stack(vectors)] if vectors else ())


def of_read_passages(statements: Sequence[str], parts: Sequence[ReadPassages]) -> Message:
    words = ((part.words.texts, part.words.titles, part.vectors) for part in parts)
    arrays: list[Array] = []
    for texts, titles, vectors in words:
        arrays += (texts.numbers, texts.lengths, titles.numbers, titles.lengths, vectors)
    return Message({"method": Method.SCORE_READ, "statements": list(statements)}, arrays)


async def answer(call: Message, models: ProcessModels) -> Message:
    """Does what is asked for. Raises what the model raises."""
    return await _WORK[Method(call.fields["method"])](call, models)


async def _embed_query(call: Message, models: ProcessModels) -> Message:
    return Message({}, [await models.embedder.embed_query(call.fields["text"])])


async def _embed_documents(call: Message, models: ProcessModels) -> Message:
    return Message({}, [await models.embedder.embed_documents(call.fields["texts"])])


async def _score(call: Message, models: ProcessModels) -> Message:
    return Message({}, [await models.classifier.score(call.fields["text"], list(_passages(call)))])


async def _score_read(call: Message, models: ProcessModels) -> Message:
    starts = range(0, len(call.arrays), _ARRAYS_OF_PART)
    parts = [_part(call.arrays[start : start + _ARRAYS_OF_PART]) for start in starts]
    return Message({}, await models.classifier.score_read(call.fields["statements"], parts))


async def _judge(call: Message, models: ProcessModels) -> Message:
    passages = [ModelPassage(text) for text in call.fields["passages"]]
    return Message({}, [await models.classifier.judge(call.fields["text"], passages, call.arrays[0])])


async def _extract(call: Message, models: ProcessModels) -> Message:
    found = await models.extractor.extract(call.fields["text"], list(_passages(call)))
    spans = [[(int(one.start), int(one.end), float(one.score)) for one in passage] for passage in found]
    return Message({"spans": spans})


async def _rerank(call: Message, models: ProcessModels) -> Message:
    return Message({}, [await models.reranker.score(call.fields["text"], list(_passages(call)))])


_ARRAYS_OF_PART = 5


def _part(arrays: Sequence[Array]) -> ReadPassages:
    texts, text_lengths, titles, title_lengths, vectors = arrays
    return ReadPassages(PassageWords(WordLists(texts, text_lengths), WordLists(titles, title_lengths)), vectors)


def _passages(call: Message) -> Iterator[ModelPassage]:
    vectors = iter(call.arrays[0] if call.arrays else ())
    for text, path, has_vector in call.fields["passages"]:
        yield ModelPassage(text, tuple(path), next(vectors) if has_vector else None)


_WORK: Mapping[Method, Callable[[Message, ProcessModels], Awaitable[Message]]] = {
    Method.EMBED_QUERY: _embed_query,
    Method.EMBED_DOCUMENTS: _embed_documents,
    Method.SCORE: _score,
    Method.SCORE_READ: _score_read,
    Method.JUDGE: _judge,
    Method.EXTRACT: _extract,
    Method.RERANK: _rerank,
}
