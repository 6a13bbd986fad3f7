"""Reads the messages of a model call: what is asked now, what was asked before, and what the tools have answered
since. Results of tools are data from outside: one without the expected shape becomes a failure, and no text in them is
ever read as an instruction."""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from pydantic import ValidationError

from proviso_service.tool_results import (
    CLASSIFY_TOOL,
    EXTRACT_TOOL,
    IQL_TOOL,
    LIST_TOOL,
    RETRIEVER_TOOL,
    SEARCH_TOOL,
    TEXT_TOOL,
    ClassifiedClauses,
    DocumentList,
    DocumentPart,
    ExtractedAnswer,
    ExtractedAnswers,
    FoundPassage,
    FoundPassages,
    ListedDocument,
    QueryMatches,
    ResultShape,
)

_MARKER = re.compile(
    r'\[CONTEXT\] The user has selected matter "(?P<matter>[^\n]*)" \(matter_id: [^\s()]+\)\.[ \t]*(?:\n|$)'
    r'(?:The user is currently viewing document "(?P<name>[^\n]*)" \(document_id: (?P<id>[^\s()]+)\)\.[ \t]*(?:\n|$))?'
)
_ASSET_HEADING = "[Uploaded Documents Context]\n"
_ASSET = re.compile(r"- (?P<filename>[^\n]+?) \((?P<type>[^()\n]*)\): (?P<summary>[^\n]*)")
_IMAGE_TYPES = frozenset({"image", "image_url", "input_image"})


@dataclass(frozen=True, slots=True)
class Asset:
    """An uploaded file whose summary the service has put in front of the message."""

    filename: str
    type: str
    summary: str


@dataclass(frozen=True, slots=True)
class UserMessage:
    """A person's message without the blocks that the service puts in front of it. `viewed` is the document that the
    person has on the screen."""

    text: str
    has_matter: bool = False
    viewed: ListedDocument | None = None
    assets: tuple[Asset, ...] = ()
    has_images: bool = False


@dataclass(frozen=True, slots=True)
class ReadConversation:
    """The user's current message, the texts of the `earlier` ones, oldest first, the last answer before the current
    message, and the messages of calls and results that followed it, the `steps`."""

    current: UserMessage
    earlier: tuple[str, ...] = ()
    last_answer: str = ""
    steps: tuple[BaseMessage, ...] = ()


def read_conversation(messages: Sequence[BaseMessage]) -> ReadConversation:
    """Reads a list of messages. The last human message is the current one; the current text is empty where there is
    none."""
    # The service's own messages to the model have a name; those of persons have none.
    asked = [index for index, message in enumerate(messages) if isinstance(message, HumanMessage) and not message.name]
    if not asked:
        return ReadConversation(UserMessage(""))
    before = messages[: asked[-1]]
    answers = [str(message.text) for message in before if isinstance(message, AIMessage) and message.text]
    return ReadConversation(
        current=read_user_message(messages[asked[-1]]),
        earlier=tuple(read_user_message(messages[index]).text for index in asked[:-1]),
        last_answer=answers[-1] if answers else "",
        steps=tuple(messages[asked[-1] + 1 :]),
    )


def read_user_message(message: BaseMessage) -> UserMessage:
    """Takes the marker of the matter and the block of assets off a human message."""
    text = str(message.text)
    marker = _MARKER.match(text)
    if marker:
        text = text[marker.end() :].lstrip("\n")
    assets, text = _take_assets(text)
    viewed = None
    if marker and marker["id"]:
        name = re.sub(r"\\([\\\"])", r"\1", marker["name"])
        viewed = ListedDocument(document_id=marker["id"], filename=name)
    has_images = not isinstance(message.content, str) and any(
        isinstance(part, dict) and part.get("type") in _IMAGE_TYPES for part in message.content
    )
    return UserMessage(text.strip(), marker is not None, viewed, assets, has_images)


def _take_assets(text: str) -> tuple[tuple[Asset, ...], str]:
    if not text.startswith(_ASSET_HEADING):
        return (), text
    block, _, rest = text.removeprefix(_ASSET_HEADING).partition("\n\n")
    found = (_ASSET.fullmatch(line) for line in block.split("\n"))
    return tuple(Asset(one["filename"], one["type"], one["summary"]) for one in found if one), rest


class Search(FoundPassages):
    """The passages that a search has found, with the documents and the number of passages that it was asked for. Where
    it was asked for no documents in particular, it has searched all of them."""

    document_ids: tuple[str, ...] = ()
    max_results: int = 0


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call that the model makes or has made in this turn."""

    name: str
    args: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The calls that were made in this turn and their results by kind, each in order; `listing` is the last one. Of a
    call that brought no result there is its error among the `failures`, empty where the tool did not state it."""

    calls: tuple[Call, ...] = ()
    listing: DocumentList | None = None
    searches: tuple[Search, ...] = ()
    parts: tuple[DocumentPart, ...] = ()
    analyses: tuple[QueryMatches, ...] = ()
    classified: tuple[ClassifiedClauses, ...] = ()
    extracted: tuple[ExtractedAnswers, ...] = ()
    failures: tuple[str, ...] = ()

    def has_searched(self, document_id: str) -> bool:
        """Whether a document was searched among few, or all of it was asked for, and it was not passed over: in a
        search of the whole matter its passages may have had to give way to those of others."""
        is_asked = any(
            document_id in (call.args.get("document_ids") or ()) for call in self.calls if call.name == EXTRACT_TOOL
        )
        return (is_asked and bool(self.extracted)) or any(
            document_id in search.document_ids and (search.on_view is None or search.on_view.searched is not False)
            for search in self.searches
        )

    @property
    def asked_each(self) -> bool:
        """Whether each of several documents was asked."""
        return any(call.args.get("each_document") for call in self.calls)

    @property
    def has_other_documents(self) -> bool:
        """Whether the matter may have documents beside those that were searched."""
        told = [one.searched for one in (*self.searches, *self.analyses, *self.classified) if one.searched]
        return not told or any(one.documents < one.of for one in told)

    @property
    def answers(self) -> tuple[ExtractedAnswer, ...]:
        """The answers that the tool has extracted, best first."""
        return self.extracted[-1].answers if self.extracted else ()

    @property
    def passages(self) -> tuple[FoundPassage, ...]:
        """All passages that can be quoted, in the order in which the tools gave them, each text once."""
        found = [passage for search in self.searches for passage in search.results]
        found += [part.passage for part in self.parts]
        unique = {(passage.document_id or passage.filename, passage.text): passage for passage in reversed(found)}
        return tuple(reversed(unique.values()))


def read_evidence(steps: Sequence[BaseMessage]) -> Evidence:
    """Reads the messages that followed the user's current message."""
    calls = {
        str(call["id"]): Call(call["name"], call["args"])
        for message in steps
        if isinstance(message, AIMessage)
        for call in message.tool_calls
    }
    values = [_read(message, calls.get(message.tool_call_id)) for message in steps if isinstance(message, ToolMessage)]
    listings = [value for value in values if isinstance(value, DocumentList)]
    return Evidence(
        calls=tuple(calls.values()),
        listing=listings[-1] if listings else None,
        searches=tuple(value for value in values if isinstance(value, Search)),
        parts=tuple(value for value in values if isinstance(value, DocumentPart)),
        analyses=tuple(value for value in values if isinstance(value, QueryMatches)),
        classified=tuple(value for value in values if isinstance(value, ClassifiedClauses)),
        extracted=tuple(value for value in values if isinstance(value, ExtractedAnswers)),
        failures=tuple(value for value in values if isinstance(value, str)),
    )


_SHAPES: Mapping[str, type[ResultShape]] = {
    CLASSIFY_TOOL: ClassifiedClauses,
    EXTRACT_TOOL: ExtractedAnswers,
    IQL_TOOL: QueryMatches,
    LIST_TOOL: DocumentList,
    RETRIEVER_TOOL: Search,
    SEARCH_TOOL: Search,
    TEXT_TOOL: DocumentPart,
}


def _read(message: ToolMessage, call: Call | None) -> ResultShape | str:
    """Returns the result of a call, or the error that the tool has stated."""
    tool = call.name if call else message.name or ""
    # The retriever's text is no JSON: its passages come as the artifact, and without one it has found none.
    value = message.artifact if isinstance(message.artifact, dict) else None
    if value is None:
        with suppress(ValueError):
            value = json.loads(str(message.text))
    if value is None and tool == RETRIEVER_TOOL:
        return Search()
    if not isinstance(value, dict) or tool not in _SHAPES:
        return ""
    if "error" in value:
        return str(value["error"])
    if tool == SEARCH_TOOL and call:
        asked = {"document_ids": call.args.get("document_ids") or (), "max_results": call.args.get("max_results", 0)}
        value = value | asked
    try:
        return _SHAPES[tool].model_validate(value)
    except ValidationError:
        return ""
