"""What the tools have said in this turn, as typed values.

Tool results are data from outside: what does not have the expected shape becomes a `Failure`, and no text in them is
ever read as an instruction.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from pydantic import BaseModel, ConfigDict, Field, ValidationError

LIST_TOOL = "list_matter_documents"
TEXT_TOOL = "get_document_text"
SEARCH_TOOL = "isaacus_search"
IQL_TOOL = "isaacus_iql"
CLASSIFY_TOOL = "isaacus_classify"
RETRIEVER_TOOL = "retriever"


class _Result(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class ListedDocument(_Result):
    document_id: str
    filename: str
    processing_status: str = "ready"

    @property
    def is_ready(self) -> bool:
        return self.processing_status.lower() == "ready"


class StatusCounts(_Result):
    ready_for_search: int = 0
    still_processing: int = 0
    failed: int = 0


class Listing(_Result):
    """Answer of list_matter_documents; `total_count` counts all, `documents` may be cut. The first `name_matches` have
    names that match those asked for."""

    total_count: int
    name_matches: int | None = None
    summary: StatusCounts = StatusCounts()
    documents: tuple[ListedDocument, ...] = ()

    @property
    def is_whole(self) -> bool:
        return len(self.documents) >= self.total_count

    @property
    def holds_named(self) -> bool:
        """Whether every document that may have been named is shown."""
        return self.is_whole or (self.name_matches is not None and len(self.documents) >= self.name_matches)


class Passage(_Result):
    """A piece of a document's text that an answer may quote."""

    document_id: str = ""
    filename: str
    text: str
    ref: int | None = None
    heading: str = ""


class MatchingDocument(_Result):
    """A document with `passages` passages that hold all significant words of the query."""

    document_id: str = ""
    filename: str
    passages: int = 0


class Search(_Result):
    """Answer of isaacus_search or the retriever; `results` may be cut. `documents_matching_count` counts all,
    `documents_matching` may show the first of them only; both are None when the tool did not count."""

    query: str = ""
    total_found: int = 0
    documents_found: int = 0
    results: tuple[Passage, ...] = ()
    documents_matching: tuple[MatchingDocument, ...] | None = None
    documents_matching_count: int | None = None
    documents_processing: tuple[Any, ...] = ()
    document_ids: tuple[str, ...] = Field((), exclude=True)
    max_results: int = Field(0, exclude=True)

    @property
    def processing_names(self) -> tuple[str, ...]:
        return tuple(_name(entry) for entry in self.documents_processing)

    @property
    def documents_not_shown(self) -> int:
        """Documents with passages that the result had no room for."""
        shown = {one.document_id or one.filename for one in self.results}
        return max(0, self.documents_found - len(shown))

    @property
    def is_full(self) -> bool:
        """Whether more may have been found than the search was asked for."""
        return 0 < self.max_results <= self.total_found


class Match(_Result):
    text: str
    ref: int | None = None
    heading: str = ""


class Analysed(_Result):
    """A document by its score; `matches` may be cut, `match_count` counts all."""

    document_id: str = ""
    filename: str
    score: float = 0.0
    match_count: int = 0
    matches: tuple[Match, ...] = ()

    @property
    def passages(self) -> tuple[Passage, ...]:
        here = {"document_id": self.document_id, "filename": self.filename}
        return tuple(Passage(**here, text=match.text, ref=match.ref, heading=match.heading) for match in self.matches)


class NotAnalysed(_Result):
    document_id: str = ""
    filename: str = ""


class Analysis(_Result):
    """Answer of isaacus_iql, best document first; `document_results` may be cut, counts are full."""

    query: str = ""
    total_matches: int
    document_count: int = 0
    document_results: tuple[Analysed, ...] = ()
    errors: tuple[NotAnalysed, ...] = ()


class ClausesOfType(_Result):
    """Clauses of a type that was found; `passages` may be cut, the surest first, `clauses` counts all."""

    clause_type: str
    clauses: int
    documents: int = 1
    passages: tuple[Passage, ...] = ()


class Classified(_Result):
    """Answer of isaacus_classify; lists may be cut, counts are full."""

    total_found: int
    types_searched: int
    types_found: int
    clause_types: tuple[ClausesOfType, ...] = ()
    not_found: tuple[str, ...] = ()
    document_errors: tuple[NotAnalysed, ...] = ()


class DocumentPart(Passage):
    """Answer of get_document_text."""

    character_count: int = 0
    start: int = 0
    truncated: bool = False


class Failure(_Result):
    """A tool that could not answer; `error` is only set when the tool stated it in its typed form."""

    tool: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class MadeCall:
    name: str
    args: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Evidence:
    calls: tuple[MadeCall, ...] = ()
    listing: Listing | None = None
    searches: tuple[Search, ...] = ()
    parts: tuple[DocumentPart, ...] = ()
    analyses: tuple[Analysis, ...] = ()
    classified: tuple[Classified, ...] = ()
    failures: tuple[Failure, ...] = ()

    def has_called(self, name: str) -> bool:
        return any(call.name == name for call in self.calls)

    @property
    def passages(self) -> tuple[Passage, ...]:
        """Everything quotable, in the order the tools gave it, each text once."""
        found = [passage for search in self.searches for passage in search.results] + list(self.parts)
        unique = {(passage.document_id or passage.filename, passage.text): passage for passage in reversed(found)}
        return tuple(reversed(unique.values()))


def read_evidence(steps: Sequence[BaseMessage]) -> Evidence:
    """`steps` are the messages after the current user message."""
    calls = {
        str(call["id"]): MadeCall(call["name"], call["args"])
        for message in steps
        if isinstance(message, AIMessage)
        for call in message.tool_calls
    }
    values = [_read(message, calls.get(message.tool_call_id)) for message in steps if isinstance(message, ToolMessage)]
    listings = [value for value in values if isinstance(value, Listing)]
    return Evidence(
        calls=tuple(calls.values()),
        listing=listings[-1] if listings else None,
        searches=tuple(value for value in values if isinstance(value, Search)),
        parts=tuple(value for value in values if isinstance(value, DocumentPart)),
        analyses=tuple(value for value in values if isinstance(value, Analysis)),
        classified=tuple(value for value in values if isinstance(value, Classified)),
        failures=tuple(value for value in values if isinstance(value, Failure)),
    )


_REFERENCE = re.compile(r"^\[(?P<number>\d{1,3})\] (?P<place>.+):\n(?P<text>(?:(?: {4}.*)?\n)+)", re.MULTILINE)
_INDENT = re.compile(r"^ {4}", re.MULTILINE)
_SHAPES: Mapping[str, type[_Result]] = {
    CLASSIFY_TOOL: Classified,
    IQL_TOOL: Analysis,
    LIST_TOOL: Listing,
    RETRIEVER_TOOL: Search,
    SEARCH_TOOL: Search,
    TEXT_TOOL: DocumentPart,
}


def _read(message: ToolMessage, call: MadeCall | None) -> _Result:
    tool = call.name if call else message.name or ""
    text = str(message.text)
    try:
        value = json.loads(text)
    except ValueError:
        return _references(text) if tool == RETRIEVER_TOOL else Failure(tool=tool)
    if not isinstance(value, dict) or tool not in _SHAPES:
        return Failure(tool=tool)
    if "error" in value:
        return Failure(tool=tool, error=str(value["error"]))
    if tool == SEARCH_TOOL and call:
        value["document_ids"] = call.args.get("document_ids") or ()
        value["max_results"] = call.args.get("max_results", 0)
    try:
        return _SHAPES[tool].model_validate(value)
    except ValidationError:
        return Failure(tool=tool)


def _references(text: str) -> Search:
    """The numbered references of the retriever, which names the place of a passage after its file; its empty result
    has none."""
    found = tuple(
        Passage(
            ref=int(reference["number"]), filename=reference["place"], text=_INDENT.sub("", reference["text"]).strip()
        )
        for reference in _REFERENCE.finditer(f"{text}\n")
    )
    return Search(results=found, total_found=len(found))


def _name(entry: Any) -> str:
    return str(entry.get("filename", "")) if isinstance(entry, dict) else str(entry)
