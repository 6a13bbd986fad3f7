"""Writes the answer to a task from the evidence: quotes, names and counts that a tool has given, and nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass

from proviso_service.models.local.chat import counts, phrases, reading
from proviso_service.models.local.chat.comparison import larger_line
from proviso_service.models.local.chat.evidence import Evidence, Listing
from proviso_service.models.local.chat.examples import Intent
from proviso_service.models.local.chat.ranking import Scored, Wanted, quote_of, rank
from proviso_service.models.local.chat.rendering import bullets, document_lines, joined, name, place, quote
from proviso_service.models.local.chat.targets import Target
from proviso_service.models.local.chat.task import Scope, Task
from proviso_service.models.ports import Embedder

_MAX_DOCUMENTS = 4
_MAX_FOUND = 4
_DOCUMENT_MARGIN = 0.25
_SECOND_MARGIN = 0.1

# A sentence is an answer when it shows the evidence of a known topic, or else shares enough words and meaning. Measured
# on the questions of the tests: answers score above, near misses below.
_MIN_SIMILARITY = 0.22
_MIN_TOPIC_SCORE = 0.45
_MIN_FULL_SCORE = 0.5
_MIN_SCORE = 0.62
_SURE_SIMILARITY = 0.55


@dataclass(frozen=True, slots=True)
class Answer:
    """`found` is false when the evidence does not answer the question."""

    text: str
    found: bool = True


async def answer(task: Task, target: Target, evidence: Evidence, embedder: Embedder) -> Answer:
    """The answer that the evidence supports; the exact refusal when it supports none."""
    settled = _settled(task, target, evidence)
    if settled:
        return Answer(settled)
    if task.intent is Intent.COUNT:
        return Answer(counts.count_answer(task, target, evidence))
    if task.intent in (Intent.SHOW, Intent.SUMMARY):
        text = reading.read_out(task, evidence)
        return Answer(text) if text else _nothing(target, evidence)
    return await _quoted_answer(task, target, evidence, embedder)


async def _quoted_answer(task: Task, target: Target, evidence: Evidence, embedder: Embedder) -> Answer:
    wanted = Wanted(task.bare_question, task.topic, task.kind)
    ranked = await rank(embedder, wanted, evidence.passages)
    good = [one for one in ranked if is_answer(one, wanted)]
    if not good:
        return _nothing(target, evidence)
    if task.intent is Intent.COMPARE:
        return Answer(_compared(task, target, good, wanted) + _caveat(evidence))
    if task.intent is Intent.FIND:
        return Answer(_listed(_distinct(good)[:_MAX_FOUND], wanted) + _caveat(evidence))
    return Answer(_opening(task, good) + _stated(good, wanted) + _caveat(evidence))


def is_answer(scored: Scored, wanted: Wanted) -> bool:
    """Whether a sentence may be given as an answer rather than as something merely near."""
    if not scored.has_evidence:
        return False
    if wanted.topic is not None:
        return scored.score >= _MIN_TOPIC_SCORE
    if scored.similarity < _MIN_SIMILARITY:
        return False
    if scored.overlap == 1:
        return scored.score >= _MIN_FULL_SCORE
    if scored.overlap >= 1 / 2:
        return scored.score >= _MIN_SCORE
    return scored.overlap >= 1 / 3 and scored.similarity >= _SURE_SIMILARITY


def _settled(task: Task, target: Target, evidence: Evidence) -> str:
    """Answers that need no passage: about the documents themselves, or why nothing could be looked up. Else empty."""
    listing = evidence.listing
    if listing and not listing.total_count:
        return phrases.NO_DOCUMENTS
    about_target = "" if target.documents else _missing(target, listing) or _unready(target)
    if about_target:
        return about_target
    if listing and (task.intent is Intent.LIST or (task.intent is Intent.COUNT and not evidence.searches)):
        return counts.documents_answer(task, target, listing)
    if evidence.searches or evidence.parts:
        return ""
    if listing and not evidence.failures and task.intent in (Intent.SHOW, Intent.SUMMARY):
        return f"{phrases.WHICH_DOCUMENT} The matter has:\n{document_lines(listing)}"
    return _failed(evidence)


def _missing(target: Target, listing: Listing | None) -> str:
    if not target.missing:
        return ""
    known = f" It has:\n{document_lines(listing)}" if listing and listing.documents else ""
    names = joined([f"'{name(one)}'" for one in target.missing])
    return f"No document in this matter has a name that matches {names}.{known}"


def _unready(target: Target) -> str:
    return " ".join(_unready_line(one.filename, one.processing_status) for one in target.unready)


def _failed(evidence: Evidence) -> str:
    stated = next((failure.error for failure in evidence.failures if failure.error), "")
    if stated:
        return f"I could not look that up: {name(stated).rstrip('.')}."
    return phrases.TOOL_FAILED if evidence.failures else phrases.NO_TOOLS


def _unready_line(filename: str, status: str) -> str:
    if status.lower() == "failed":
        return f"{name(filename)} could not be processed, so I can't search it."
    return f"{name(filename)} is still being processed, so I can't search it yet."


def _nothing(target: Target, evidence: Evidence) -> Answer:
    searched = _searched_names(target, evidence)
    where = f" I searched {joined(searched)}." if searched else ""
    return Answer(phrases.NO_ANSWER + where + _caveat(evidence).replace("\n\n", " "), found=False)


def _searched_names(target: Target, evidence: Evidence) -> list[str]:
    if any(not search.document_ids for search in evidence.searches):
        return []
    return [name(one.filename) for one in target.documents if one.filename]


def _caveat(evidence: Evidence) -> str:
    processing = list(
        dict.fromkeys(name(one) for search in evidence.searches for one in search.processing_names if one)
    )
    return f"\n\nStill being processed and not searched: {joined(processing)}." if processing else ""


def _opening(task: Task, good: Sequence[Scored]) -> str:
    if task.scope is not Scope.VIEWED_FIRST or task.viewed is None:
        return ""
    if any(one.passage.document_id == task.viewed.document_id for one in good):
        return ""
    return f"I found no answer in {name(task.viewed.name)}, the document on view, but in other documents. "


def _stated(good: Sequence[Scored], wanted: Wanted) -> str:
    """The best sentences: of one document with a lead-in, of several as a list."""
    best = _best_by_document(good)
    if len(best) > 1:
        return "The documents say:\n" + _listed(best, wanted)
    first = best[0]
    chosen = sorted([first, *_second(first, good)], key=lambda one: one.position)
    quotes = " ".join(quote(quote_of(one, wanted), one.passage.ref) for one in chosen)
    return f"{place(first.passage)} says: {quotes}"


def _best_by_document(good: Sequence[Scored]) -> list[Scored]:
    floor = good[0].score - _DOCUMENT_MARGIN
    best: dict[str, Scored] = {}
    for one in good:
        if one.score >= floor:
            best.setdefault(one.document, one)
    return list(best.values())[:_MAX_DOCUMENTS]


def _second(first: Scored, good: Sequence[Scored]) -> list[Scored]:
    """A second sentence of the same passage when it is nearly as good."""
    near = (
        one
        for one in good
        if one is not first and one.passage is first.passage and one.score >= first.score - _SECOND_MARGIN
    )
    return list(near)[:1]


def _distinct(good: Sequence[Scored]) -> list[Scored]:
    """The best sentence of each passage."""
    best: dict[int, Scored] = {}
    for one in good:
        best.setdefault(id(one.passage), one)
    return list(best.values())


def _listed(chosen: Sequence[Scored], wanted: Wanted) -> str:
    return bullets(f"{place(one.passage)}: {quote(quote_of(one, wanted), one.passage.ref)}" for one in chosen)


def _compared(task: Task, target: Target, good: Sequence[Scored], wanted: Wanted) -> str:
    best: dict[str, Scored] = {}
    for one in good:
        best.setdefault(one.document, one)
    chosen = _in_order(list(best.values()), target)[:_MAX_DOCUMENTS]
    silent = [name(one.filename) for one in target.documents if one.document_id not in best]
    lines = [f"{place(one.passage)}: {quote(quote_of(one, wanted), one.passage.ref)}" for one in chosen]
    lines += [f"{one}: nothing found that answers this." for one in silent]
    lines += [f"'{name(one)}': no document in this matter has a name that matches." for one in target.missing]
    larger = larger_line(task.question, [(one.passage.filename, quote_of(one, wanted)) for one in chosen])
    return "Side by side:\n" + bullets(lines) + larger


def _in_order(chosen: list[Scored], target: Target) -> list[Scored]:
    order = {document_id: index for index, document_id in enumerate(target.ids)}
    return sorted(chosen, key=lambda one: order.get(one.passage.document_id, len(order)))
