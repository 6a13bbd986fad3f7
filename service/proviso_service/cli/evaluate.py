"""`proviso evaluate`: asks a running service what people have labelled, and says how often it was right."""

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from proviso_client import AsyncClient
from proviso_client.v1 import chat_pb2
from proviso_service.cli.connection import Connection, connect, newest_matter
from proviso_service.cli.discovery import DiscoveredFiles, find_files
from proviso_service.cli.figures import Way, average_precision
from proviso_service.cli.ingest import Ingest, Result
from proviso_service.cli.output import CommandError, console, print_json
from proviso_service.cli.server_options import Server

LABELS = "labels.jsonl"

REFUSAL = re.compile(
    r"^(?:\W*)(?:I (?:found no|can't find|cannot find|could not|did not find|didn't find|don't have|don't know)"
    r"|no (?:document|passage|clause|searched|provision|such)|none of|nothing|there is no\b|not found"
    r"|ich (?:habe|konnte|kann|finde)\b.{0,80}\b(?:nicht|kein|nichts)|kein|je n['\u2019]ai (?:rien )?(?:pas )?trouv"
    r"|aucun)",
    re.IGNORECASE,
)
"""How an answer begins that says that nothing was found for certain."""

_MATTER = "Evaluation of "
_FIELDS = {"document", "question", "answers", "statement", "passages"}
_COVER = 0.5
_MATCH = 0.5
_PAGE_CHARS = 100_000
_MATCHES = 1_000
_TIMEOUT_S = 120.0

T = TypeVar("T")
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Label:
    """What a person knows of a document: the texts that answer a question, or the passages that make a statement true.
    With none of them, the document does not answer the question, or the statement is not true of it."""

    document: str
    asked: str
    texts: tuple[str, ...]
    is_statement: bool


def read_labels(folder: Path) -> list[Label]:
    """Reads the labels of a folder, each a JSON object in a line. Raises CommandError, which names the line."""
    file = folder / LABELS
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{file} cannot be read: it holds the labels, one JSON object in each line") from error
    labels = [_label(line, f"{file}, line {number}") for number, line in enumerate(lines, 1) if line.strip()]
    if not labels:
        raise CommandError(f"{file} has no labels")
    return labels


def _label(line: str, place: str) -> Label:
    try:
        read = json.loads(line)
    except ValueError as error:
        raise CommandError(f"{place}: it is no JSON") from error
    for asked, texts in (("question", "answers"), ("statement", "passages")):
        if isinstance(read, dict) and asked in read and read.keys() <= _FIELDS:
            values = (read.get("document"), read[asked], *(found := read.get(texts, [])))
            if isinstance(found, list) and all(isinstance(value, str) and value.strip() for value in values):
                return Label(read["document"], read[asked], tuple(found), asked == "statement")
    raise CommandError(
        f'{place}: it needs "document" with "question" and "answers", or with "statement" and "passages", all of them '
        "texts"
    )


def evaluate(folder: Path, server: Server, *, keep: bool, chat: bool, as_json: bool) -> None:
    """Uploads the folder's documents, asks what is labelled, and reports. Raises CommandError."""
    labels = read_labels(folder)
    matter = _MATTER + folder.resolve().name
    paths = [path for path in sorted(folder.iterdir()) if path.name != LABELS]
    found = find_files(paths, matter, per_folder=False, documentation=False)
    ways = asyncio.run(_evaluate(found, matter, labels, server, keep=keep, chat=chat))
    reports = [way.report() for way in ways if way.asked]
    if as_json:
        for report in reports:
            print_json(report)
        return
    for report in reports:
        figures = (
            f"{name.replace('_', ' ')} {value}" for name, value in report.items() if name not in ("way", "model")
        )
        console().print(f"{report['way']}: {', '.join(figures)}")
    for model, report in {one["model"]: one for one in reports if "model" in one}.items():
        console().print(f'\n[bands."{model}"]\npossible = {report["possible"]}\nlikely = {report["likely"]}')


async def _evaluate(
    found: DiscoveredFiles, name: str, labels: Sequence[Label], server: Server, *, keep: bool, chat: bool
) -> list[Way]:
    async with connect(server) as connection:
        client = connection.client
        earlier = await newest_matter(client, name)
        try:
            documents = await _ingested(connection, found)
            matter = await newest_matter(client, name)
            if matter is None:
                raise CommandError(f"The matter {name!r} was deleted meanwhile")
            run = EvaluationRun(client, matter.matter_id, documents)
            for label in labels:
                await run.ask(label, chat=chat)
        finally:
            made = None if keep or earlier else await newest_matter(client, name)
            if made:
                await client.matters.delete(made.matter_id)
        return [run.search, run.extract, run.iql, run.untrue, run.chat]


async def _ingested(connection: Connection, found: DiscoveredFiles) -> dict[str, str]:
    """The ids of the documents by their names. Raises CommandError where one cannot be read."""
    ingest = Ingest(found)
    await ingest.run(connection, lambda _bytes, _outcomes: None)
    failed = [one for one in ingest.outcomes if one.result is Result.FAILED]
    if failed:
        raise CommandError(f"{failed[0].path} cannot be used: {failed[0].reason}")
    return {one.path.name: one.document_id for one in ingest.outcomes}


class EvaluationRun:
    """Asks about labels in all ways and counts what comes back."""

    def __init__(self, client: AsyncClient, matter_id: str, documents: dict[str, str]) -> None:
        self._client = client
        self._matter_id = matter_id
        self._documents = documents
        self._texts: dict[str, str] = {}
        self.search = Way("search", {"first": 0, "among_three": 0})
        answered = {"right": 0, "right_to_find_nothing": 0, "offered": 0, "missed": 0, "wrong": 0}
        self.extract = Way("extract", {**answered, "first": 0, "among_three": 0})
        self.iql = Way("iql", {"found": 0, "first": 0, "among_three": 0})
        self.untrue = Way("iql, not true", {"found": 0})
        self.chat = Way("chat", dict(answered))

    async def ask(self, label: Label, *, chat: bool) -> None:
        document_id = self._documents.get(label.document)
        if document_id is None:
            raise CommandError(f"The folder has no document {label.document!r}, which a label names")
        spans = await self._spans(label, document_id)
        if label.is_statement:
            await self._iql(label, document_id, spans)
            return
        if spans:
            await self._search(label, document_id, spans)
        await self._extract(label, document_id, spans)
        if chat:
            await self._chat(label, document_id, spans)

    async def _search(self, label: Label, document_id: str, spans: Sequence[Span]) -> None:
        request = self._client.tools.search(
            self._matter_id, label.asked, document_ids=[document_id], page_size=3, timeout_s=_TIMEOUT_S
        )
        answer, seconds = await _timed(request)
        right = [_is_right((one.citation.start, one.citation.end), spans) for one in answer.results]
        self.search.add(_ranks(right), seconds)

    async def _extract(self, label: Label, document_id: str, spans: Sequence[Span]) -> None:
        request = self._client.tools.extract(
            self._matter_id, label.asked, document_ids=[document_id], timeout_s=_TIMEOUT_S
        )
        answer, seconds = await _timed(request)
        places = [(one.answer_start, one.answer_end) for one in answer.citations[:1]]
        places += [(one.citation.answer_start, one.citation.answer_end) for one in answer.alternatives]
        right = [_is_right(place, spans) for place in places]
        scores = [*([answer.score] if answer.found else []), *(one.score for one in answer.alternatives)]
        self.extract.model = answer.model
        self.extract.scored += zip(scores[:1], right[:1], strict=True)
        grade = _grade(found=answer.found, right=any(right[: 1 if answer.found else 3]), there=bool(spans))
        self.extract.add((grade, *_ranks(right)), seconds)

    async def _iql(self, label: Label, document_id: str, spans: Sequence[Span]) -> None:
        statement = label.asked.rstrip(".").replace("{", "(").replace("}", ")")
        request = self._client.tools.execute_iql(
            self._matter_id,
            f"{{{statement}}}",
            document_ids=[document_id],
            min_score=0.0,
            page_size=_MATCHES,
            timeout_s=_TIMEOUT_S,
        )
        answer, seconds = await _timed(request)
        [result] = answer.document_results
        if result.error:
            raise CommandError(f"{label.document} cannot be asked: {result.error}")
        scored = [(one.score, _is_right((one.start_index, one.end_index), spans)) for one in result.matches]
        self.iql.model = answer.model
        self.iql.scored += scored
        grades = ["found"] if result.score > _MATCH else []
        if not spans:
            self.untrue.add(grades, seconds)
            return
        ranked = sorted(scored, key=lambda one: -one[0])
        self.iql.precisions.append(average_precision(scored))
        self.iql.add((*grades, *_ranks([right for _, right in ranked])), seconds)

    async def _chat(self, label: Label, document_id: str, spans: Sequence[Span]) -> None:
        context = {"matter_id": self._matter_id, "document_id": document_id}
        final, seconds = await _timed(self._answer(label.asked, context))
        cited = [(one.start, one.end) for one in final.citations if one.document_id == document_id]
        right = any(_is_right(place, spans) for place in cited)
        found = bool(cited) and not REFUSAL.match(final.message)
        self.chat.tokens += final.usage.input_tokens + final.usage.output_tokens
        self.chat.add((_grade(found=found, right=right, there=bool(spans)),), seconds)

    async def _answer(self, message: str, context: dict[str, str]) -> chat_pb2.FinalState:
        turn = self._client.chat(message, matter_context=context, timeout_s=_TIMEOUT_S)
        async for _ in turn:
            pass
        if turn.final is None:
            raise CommandError(f"There was no answer to {message!r}")
        return turn.final

    async def _spans(self, label: Label, document_id: str) -> list[Span]:
        """Where the texts of a label stand in the document. Raises CommandError where one does not."""
        text = self._texts.get(document_id) or await self._text(document_id)
        self._texts[document_id] = text
        spans = []
        for wanted in label.texts:
            found = re.search(r"\s+".join(map(re.escape, wanted.split())), text)
            if found is None:
                raise CommandError(f"{label.document} does not hold the labelled text {wanted[:80]!r}")
            spans.append(found.span())
        return spans

    async def _text(self, document_id: str) -> str:
        parts, start = [], 0
        while True:
            answer = await self._client.tools.document_text(
                self._matter_id, document_id=document_id, start=start, max_chars=_PAGE_CHARS
            )
            parts.append(answer.text)
            start = answer.next_start
            if not start:
                return "".join(parts)


async def _timed(call: Awaitable[T]) -> tuple[T, float]:
    begun = time.monotonic()
    return await call, time.monotonic() - begun


def _is_right(place: Span, spans: Sequence[Span]) -> bool:
    """Whether a place shares half of a labelled one, or half of itself with it."""
    return any(
        min(place[1], end) - max(place[0], start) >= _COVER * min(place[1] - place[0], end - start)
        for start, end in spans
    )


def _ranks(right: Sequence[bool]) -> list[str]:
    return [*(["first"] if any(right[:1]) else []), *(["among_three"] if any(right[:3]) else [])]


def _grade(*, found: bool, right: bool, there: bool) -> str:
    """What an answer counts as. One that is not given for certain may still offer the right place."""
    if found:
        return "right" if right else "wrong"
    if right:
        return "offered"
    return "missed" if there else "right_to_find_nothing"
