"""The written form of what the caches keep, as JSON, for a cache that processes share."""

import json
from typing import Any, cast

from langchain_core.messages import AIMessage, message_to_dict, messages_from_dict
from pydantic import TypeAdapter

from proviso_service.agent.caching import CachedReply
from proviso_service.agent.suspension import signature_text
from proviso_service.tools.base import ToolResult
from proviso_service.tools.extract import ExtractResult
from proviso_service.tools.retriever import DocumentationResult
from proviso_service.tools.search import SearchResult

RESULTS: dict[str, TypeAdapter[Any]] = {
    kind.__name__: TypeAdapter(kind) for kind in (DocumentationResult, ExtractResult, SearchResult)
}
"""The results of the tools that retrieve, by the names that tell what was written."""


def write_reply(reply: CachedReply) -> bytes:
    """Raises TypeError for a message that JSON cannot hold."""
    plain = {"message": message_to_dict(reply.message), "input_tokens": reply.input_tokens}
    return json.dumps(plain, default=signature_text, ensure_ascii=False).encode()


def read_reply(written: bytes) -> CachedReply:
    """Raises ValueError, KeyError or TypeError for what `write_reply` has not written."""
    plain = json.loads(written)
    [message] = messages_from_dict([plain["message"]])
    if not isinstance(message, AIMessage):
        raise TypeError("this is no reply of a model")
    tokens = plain["input_tokens"]
    return CachedReply(message, None if tokens is None else int(tokens))


def write_result(result: ToolResult) -> bytes:
    """Raises KeyError for a result of another tool than those that retrieve."""
    kind = type(result).__name__
    return kind.encode() + b" " + RESULTS[kind].dump_json(result)


def read_result(written: bytes) -> ToolResult:
    """Raises ValueError or KeyError for what `write_result` has not written."""
    kind, _, plain = written.partition(b" ")
    return cast("ToolResult", RESULTS[kind.decode()].validate_json(plain))
