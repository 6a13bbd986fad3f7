"""Chooses the next tool calls for a request, or none when it is time to answer. A turn has at most three calls. Which
ones are made for what is asked is data: `plans.toml`."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any

from proviso_service.embedded.chat.conversation import Call, Evidence
from proviso_service.embedded.chat.extracted import asks_for_all, to_read_on
from proviso_service.embedded.chat.mentions import ABBREVIATIONS, find_mentions, proper_words, without_mentions
from proviso_service.embedded.chat.phrases import Intent, pattern
from proviso_service.embedded.chat.request import Scope, TargetDocuments, UserRequest
from proviso_service.embedded.sentences import one_line
from proviso_service.reading import joined_words
from proviso_service.tool_results import (
    CLASSIFY_TOOL,
    EXTRACT_TOOL,
    IQL_TOOL,
    LIST_TOOL,
    RETRIEVER_TOOL,
    SEARCH_TOOL,
    TEXT_TOOL,
)

MAX_CALLS = 3
_MAX_QUERY_CHARS = 300
_MAX_TEXT_CHARS = 2_000
_MAX_READ_ON_CHARS = 4_500
# Low, because the model scores the sentences of the passages itself; what is plainly unrelated is still left out.
_THRESHOLD = 0.1
# With 0.3 and 0.8 fewer of the questions that were worked with are answered.
_SEMANTIC_WEIGHT = 0.6
_FEW, _MANY = 4, 20
"""How many passages to ask for, and most: the more, the less is shown of each."""

_ABOUT_DOCUMENTS = frozenset({Intent.LIST, Intent.SHOW, Intent.SUMMARY, Intent.COMPARE})

Tools = Mapping[str, frozenset[str]]
"""The names of the arguments of each tool that is offered, by the name of the tool."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is called where all of `when` holds."""

    when: Sequence[str]
    calls: Sequence[Mapping[str, Any]]

    def fits(self, facts: Mapping[str, bool]) -> bool:
        """Tells whether such a request is meant. Raises KeyError for a condition that nothing is told about."""
        return all(
            any(facts[one.removeprefix("!")] != one.startswith("!") for one in condition.split("|"))
            for condition in self.when
        )


def next_calls(request: UserRequest, target: TargetDocuments, evidence: Evidence, tools: Tools) -> list[Call]:
    """Returns the calls to make now. None of them was made before, and all are to tools that are offered."""
    made = [call for call in evidence.calls if call.name != LIST_TOOL]
    is_missing = request.section and evidence.failures and [call.name for call in made] == [TEXT_TOOL]
    if made and not (is_missing and request.intent not in (Intent.SHOW, Intent.SUMMARY)):
        return []
    if is_missing:  # what it says may stand elsewhere, or the document has no headings
        request = replace(request, section="")
    elif _needs_listing(request, tools) and not evidence.calls and LIST_TOOL in tools:
        phrases = " ".join((*(one.phrase for one in request.mentions), *request.names))
        # Words that the names of the documents meant may hold, with abbreviations written out.
        spelled_out = [ABBREVIATIONS[word] for word in joined_words(phrases) if word in ABBREVIATIONS]
        named = {"name": one_line(" ".join([phrases, *spelled_out]), _MAX_QUERY_CHARS)}
        return [Call(LIST_TOOL, named if phrases and request.asked_of_each is None else {})]
    is_list = request.intent is Intent.LIST or (request.intent is Intent.COUNT and not request.subject(target.matched))
    is_unknown = bool(target.missing or target.unready) and not target.documents
    if is_unknown or (is_list and not request.is_about_clauses):
        return []  # the list was the answer, or the documents that are meant are missing or not ready
    facts = facts_of(request, target, tools)
    plan = next(one for one in plans() if one.fits(facts))
    wanted = [call for one in plan.calls for call in made_of(request, target, one)]
    return [call for call in wanted if call.name in tools][: MAX_CALLS - len(evidence.calls)]


def documentation_call(request: UserRequest, evidence: Evidence, tools: Tools) -> Call | None:
    """Returns the one search of the documentation for a question without a matter. It is None for questions about a
    matter's own documents or clauses, which only a matter answers."""
    about_documents = request.intent in _ABOUT_DOCUMENTS or (
        request.intent is Intent.COUNT and pattern("about_documents").search(request.question)
    )
    if about_documents or request.is_about_clauses or RETRIEVER_TOOL not in tools or evidence.calls:
        return None
    return Call(RETRIEVER_TOOL, {"query": one_line(request.question, _MAX_QUERY_CHARS)})


def read_on(request: UserRequest, target: TargetDocuments, evidence: Evidence, tools: Tools) -> list[Call]:
    """Returns the call that reads the rest of an enumeration which a likely answer opens; none where there is none."""
    asks_all = asks_for_all(request, target)
    may_read = TEXT_TOOL in tools and not evidence.parts and len(evidence.calls) < MAX_CALLS
    if not may_read or len(evidence.extracted) != 1 or (evidence.asked_each and not asks_all):
        return []
    found = to_read_on(evidence.answers, asks_all=asks_all)
    args = [{"document_id": one.document_id, "start": start, "max_length": _MAX_READ_ON_CHARS} for one, start in found]
    return [Call(TEXT_TOOL, one) for one in args]


def second_look(request: UserRequest, target: TargetDocuments, evidence: Evidence, tools: Tools) -> list[Call]:
    """Returns what to try, once, when the evidence gave no answer: a search of a document that was only asked;
    and where only the document on view was searched for an open question, the rest of the matter."""
    if len(evidence.calls) >= MAX_CALLS or SEARCH_TOOL not in tools:
        return []
    if not evidence.searches:
        return [_search(request, target, _FEW)] if evidence.extracted and len(target.documents) == 1 else []
    may_widen = request.scope is Scope.VIEWED_FIRST and target.documents and not target.matched
    is_widened = not all(search.document_ids for search in evidence.searches)
    if not may_widen or is_widened or not evidence.has_other_documents:
        return []
    return [_search(request, TargetDocuments(), _MANY, each=2)]


def _needs_listing(request: UserRequest, tools: Tools) -> bool:
    """Tells whether the names of the matter's documents must be known first. Clauses are searched in all documents,
    without a list, when the question means no document in particular."""
    if request.mentions:
        return not request.names_viewed
    if request.scope is Scope.EARLIER:
        return True
    if (request.asks_types and CLASSIFY_TOOL in tools) or (request.clauses and IQL_TOOL in tools):
        return False
    if request.intent in (Intent.LIST, Intent.COMPARE) or request.names:
        return True
    if request.intent in (Intent.SHOW, Intent.SUMMARY):
        return request.scope is Scope.MATTER
    return request.intent is Intent.COUNT and not request.subject(())


def facts_of(request: UserRequest, target: TargetDocuments, tools: Tools) -> Mapping[str, bool]:
    """Tells what holds of a request, in the words of the plans: its intent and the tools that are offered among it."""
    asked = request.asked_of_each
    asks_words = request.intent is Intent.COUNT and pattern("mentions").search(request.question) is not None
    can_ask_each = "each_document" in tools.get(EXTRACT_TOOL, ()) and not request.section and not request.term
    return {
        **{str(intent): intent is request.intent for intent in Intent},
        **{f"offers {name}": name in tools for name in (CLASSIFY_TOOL, IQL_TOOL, TEXT_TOOL)},
        "types": request.asks_types,
        "clauses": request.clauses is not None,
        "section": bool(request.section),
        "one": len(target.documents) == 1,
        "several": len(target.documents) > 1,
        "named": bool(target.documents or target.missing),
        "on view": request.viewed is not None,
        "can ask each": can_ask_each,
        "asks each": asked is not None,
        "asks all": asks_for_all(request, target),
        "counts words": asks_words and not (asked and asked.lacks),
        "asks two": len(request.parts) > 1,
    }


@cache
def plans() -> tuple[Plan, ...]:
    read = tomllib.loads(resources.files(__package__).joinpath("plans.toml").read_text("utf-8"))
    return tuple(Plan(one["when"], one["calls"]) for one in read["plans"])


def made_of(request: UserRequest, target: TargetDocuments, call: Mapping[str, Any]) -> list[Call]:
    """Makes a call of a plan. Raises ValueError for one that there is not."""
    match call:
        case {"call": "classify"}:
            made = [Call(CLASSIFY_TOOL, _where(target))]
        case {"call": "query"} if request.clauses:
            where = {} if request.clauses.compares and not request.mentions else _where(target)
            made = [Call(IQL_TOOL, {"query": request.clauses.iql} | _seen(request) | where)]
        case {"call": "open"}:
            part: dict[str, Any] = {"start": 0, "max_length": _MAX_TEXT_CHARS}
            if request.section:
                part = {"heading": request.section, "max_length": _MAX_READ_ON_CHARS}
            made = [Call(TEXT_TOOL, {"document_id": one} | part) for one in target.ids[:1]]
        case {"call": "extract", **given} if given.keys() <= {"of_each", "part"}:
            asked = request.parts[: given["part"]][-1] if "part" in given else request.question
            made = [_extraction(request, asked, target, each=given.get("of_each", False))]
        case {"call": "search", "most": most, **given} if given.keys() <= {"each", "viewed"}:
            on_view = replace(target, documents=(request.viewed,)) if request.viewed else target
            made = [_search(request, on_view if "viewed" in given else target, most, each=given.get("each", 0))]
        case _:
            raise ValueError(f"There is no such call: {call}")
    return made


def _where(target: TargetDocuments) -> dict[str, Any]:
    return {"document_ids": target.ids} if target.documents else {}


def _seen(request: UserRequest) -> dict[str, Any]:
    return {"skip": request.skip} if request.skip else {}


def _extraction(request: UserRequest, text: str, target: TargetDocuments, *, each: bool) -> Call:
    asked = request.asked_of_each if each and not target.documents else None
    named = {one.phrase for one in target.matched}
    is_whole = text == request.question
    matched = target.matched if is_whole else [one for one in find_mentions(text) if one.phrase in named]
    question = asked.question if asked else without_mentions(text, matched, "agreement")
    if len(target.documents) > 1 and (names := proper_words(question)):
        # Names have told which documents are meant; each calls its parties otherwise.
        question = re.sub(rf"\b(?:{'|'.join(map(re.escape, names))})\b", "the party", question)
    question = pattern("lists_cases").sub("When", pattern("all_of_it").sub("", question))
    of_each = {"each_document": True} | (_seen(request) if asked else {}) if each else {}
    return Call(EXTRACT_TOOL, {"question": one_line(question)} | _where(target) | of_each)


def _search(request: UserRequest, target: TargetDocuments, max_results: int, *, each: int = 0) -> Call:
    args: dict[str, Any] = {
        "query": _query(request, target),
        "max_results": min(max_results, _MANY),
        "threshold": _THRESHOLD,
        "semantic_weight": _SEMANTIC_WEIGHT,
    }
    return Call(SEARCH_TOOL, args | ({"max_per_document": each} if each else {}) | _where(target))


def _query(request: UserRequest, target: TargetDocuments) -> str:
    """Returns what to search for. A count needs the bare subject, because it counts the passages that hold all words
    of the query."""
    if request.intent is Intent.COUNT:
        return one_line(request.subject(target.matched), _MAX_QUERY_CHARS)
    if request.section:
        return f"section {request.section}"
    if request.term:
        return f"{request.term} means"  # in quotation marks its plural would not be found
    asked = without_mentions(request.question, target.matched)
    return one_line(pattern("left_behind").sub("", asked), _MAX_QUERY_CHARS)
