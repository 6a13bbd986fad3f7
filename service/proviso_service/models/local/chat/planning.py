"""Chooses the next tool calls of a task, or none when it is time to answer. At most three calls a turn."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from proviso_service.models.local.chat.evidence import LIST_TOOL, SEARCH_TOOL, TEXT_TOOL, Evidence, ListedDocument
from proviso_service.models.local.chat.examples import Intent
from proviso_service.models.local.chat.lexical import one_line
from proviso_service.models.local.chat.mentions import without_mentions
from proviso_service.models.local.chat.targets import Target, needs_listing
from proviso_service.models.local.chat.task import Scope, Task

MAX_CALLS = 3
_MAX_QUERY_CHARS = 300
_MAX_TEXT_CHARS = 2_000
# The model scores sentences itself, so search may offer what it finds weak, though not what is plainly unrelated.
_THRESHOLD = 0.1

Tools = Mapping[str, frozenset[str]]
"""Name of each tool on offer and the arguments it takes."""


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    args: Mapping[str, Any]


def next_calls(task: Task, target: Target, evidence: Evidence, tools: Tools) -> list[Call]:
    """Calls to make now; never one that was made already, never one that is not on offer."""
    left = MAX_CALLS - len(evidence.calls)
    if task.is_document_free or left <= 0:
        return []
    if needs_listing(task) and not evidence.has_called(LIST_TOOL) and LIST_TOOL in tools:
        return [Call(LIST_TOOL, {})]
    wanted = [] if _is_settled(task, target) else _calls_for(task, target, evidence, tools)
    made = [(call.name, dict(call.args)) for call in evidence.calls]
    offered = [_accepted(call, tools) for call in wanted if call.name in tools]
    return [call for call in offered if (call.name, call.args) not in made][:left]


def second_look(task: Task, target: Target, evidence: Evidence, tools: Tools) -> list[Call]:
    """What to try when the evidence gave no answer: the opening of the one document asked about; then, when it was only
    the one on view, the rest of the matter; else a search in the question's own words. Each is tried once."""
    if len(evidence.calls) >= MAX_CALLS or not evidence.searches:
        return []
    may_open = task.topic is not None and task.topic.is_in_opening and len(target.documents) == 1
    if may_open and TEXT_TOOL in tools and not evidence.has_called(TEXT_TOOL):
        return [_accepted(_opening_of(target.documents[0]), tools)]
    is_searched = any(call.name == SEARCH_TOOL and not call.args.get("document_ids") for call in evidence.calls)
    if task.scope is Scope.VIEWED_FIRST and SEARCH_TOOL in tools and not is_searched:
        return [_accepted(_search(task, Target(), 6), tools)]
    return _search_as_asked(task, target, evidence, tools)


def _search_as_asked(task: Task, target: Target, evidence: Evidence, tools: Tools) -> list[Call]:
    """The question itself as query, where the first query was made from its topic."""
    was_topical = task.topic is not None and task.intent is not Intent.COMPARE and not task.section
    if not was_topical or SEARCH_TOOL not in tools or task.scope is Scope.VIEWED_FIRST:
        return []
    first = _search(task, target, 6)
    call = _accepted(Call(SEARCH_TOOL, {**first.args, "query": one_line(task.bare_question, _MAX_QUERY_CHARS)}), tools)
    made = [dict(one.args) for one in evidence.calls if one.name == SEARCH_TOOL]
    return [] if dict(call.args) in made else [call]


def _is_settled(task: Task, target: Target) -> bool:
    """Nothing is left to look up: the documents meant are missing, not ready, or the list was the answer."""
    if task.intent is Intent.LIST or (task.intent is Intent.COUNT and not task.subject(target.matched)):
        return True
    return bool((target.missing or target.unready) and not target.documents)


def _calls_for(task: Task, target: Target, evidence: Evidence, tools: Tools) -> list[Call]:
    if task.intent in (Intent.SHOW, Intent.SUMMARY):
        return _reading(task, target, evidence, tools)
    if evidence.has_called(SEARCH_TOOL):
        return []
    if task.intent is Intent.COMPARE:
        return _comparison(task, target, evidence)
    return [_search(task, target, 4 if task.intent is Intent.COUNT else 6)]


def _reading(task: Task, target: Target, evidence: Evidence, tools: Tools) -> list[Call]:
    documents = target.documents
    if not documents and evidence.listing and len(evidence.listing.documents) == 1:
        documents = evidence.listing.documents
    if not documents or evidence.has_called(TEXT_TOOL) or evidence.has_called(SEARCH_TOOL):
        return []
    if task.section or TEXT_TOOL not in tools:
        return [_search(task, Target(documents), 6)]
    return [_opening_of(documents[0])]


def _opening_of(document: ListedDocument) -> Call:
    return Call(TEXT_TOOL, {"document_id": document.document_id, "start": 0, "max_length": _MAX_TEXT_CHARS})


def _comparison(task: Task, target: Target, evidence: Evidence) -> list[Call]:
    """One search for each document when there are two; otherwise one over all."""
    documents = target.documents
    if not documents and not task.mentions and evidence.listing and evidence.listing.is_whole:
        documents = tuple(one for one in evidence.listing.documents if one.is_ready)
    if len(documents) == 2:
        return [_search(task, Target((one,), matched=target.matched), 3) for one in documents]
    return [_search(task, target, 10)]


def _search(task: Task, target: Target, max_results: int) -> Call:
    args: dict[str, Any] = {"query": query_for(task, target), "max_results": max_results, "threshold": _THRESHOLD}
    if target.documents:
        args["document_ids"] = target.ids
    return Call(SEARCH_TOOL, args)


def query_for(task: Task, target: Target) -> str:
    """What to search for. Counting needs the bare subject, since it counts passages that hold all its words."""
    if task.intent is Intent.COUNT:
        return one_line(task.subject(target.matched), _MAX_QUERY_CHARS)
    if task.section:
        return f"section {task.section}"
    asked = without_mentions(task.question, target.matched)
    if task.topic:
        said = f"{task.subject(target.matched)} {task.topic.search}".split()
        return one_line(" ".join(dict.fromkeys(said)), _MAX_QUERY_CHARS)
    return one_line(re.sub(r"\s+(?=[?.!])|\b(?:in|of|to|from|under)\s*(?=[?.!]?$)", "", asked), _MAX_QUERY_CHARS)


def _accepted(call: Call, tools: Tools) -> Call:
    """Only arguments that the tool declares, so that an older tool still works."""
    return Call(call.name, {name: value for name, value in call.args.items() if name in tools[call.name]})
