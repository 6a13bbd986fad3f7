"""What the stand-in for Gemini answers: streams, whole or not, and refusals."""

import asyncio
import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

MODEL = "gemini-2.5-flash"


class Ending(Enum):
    """How a stream ends: as HTTP wants it; with the connection closed inside the body; or not at all."""

    WHOLE = auto()
    CUT = auto()
    STALLS = auto()


@dataclass(frozen=True)
class Streamed:
    """Chunks of a 200. `held` is awaited before the first one."""

    chunks: Sequence[dict[str, Any] | bytes]
    ending: Ending = Ending.WHOLE
    held: asyncio.Event | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Refused:
    """`body` is JSON, or bytes as they are."""

    status: int
    body: dict[str, Any] | bytes
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class HangsUp:
    """The connection is closed without an answer."""


Reply = Streamed | Refused | HangsUp


def chunk(*parts: dict[str, Any], finish: str = "", usage: dict[str, int] | None = None) -> dict[str, Any]:
    """One GenerateContentResponse of a stream."""
    candidate: dict[str, Any] = {"index": 0}
    if parts:
        candidate["content"] = {"role": "model", "parts": list(parts)}
    if finish:
        candidate["finishReason"] = finish
    response: dict[str, Any] = {"candidates": [candidate], "modelVersion": MODEL, "responseId": "r-1"}
    return response | ({"usageMetadata": usage} if usage else {})


def usage(prompt: int, candidates: int, thoughts: int = 0, cached: int = 0) -> dict[str, int]:
    """Counts as Gemini gives them with every chunk: all so far."""
    counted = {"promptTokenCount": prompt, "candidatesTokenCount": candidates}
    counted |= {"totalTokenCount": prompt + candidates + thoughts}
    counted |= {"thoughtsTokenCount": thoughts} if thoughts else {}
    return counted | ({"cachedContentTokenCount": cached} if cached else {})


def says(*pieces: str, finish: str = "STOP", prompt: int = 100, cached: int = 0) -> Streamed:
    """Text, a token a piece; the last chunk has the finish reason and no text, as happens."""
    counts = [usage(prompt, number, cached=cached) for number in range(len(pieces) + 1)]
    chunks = [chunk({"text": piece}, usage=so_far) for piece, so_far in zip(pieces, counts[1:], strict=True)]
    return Streamed([*chunks, chunk(*([] if pieces else [{"text": ""}]), finish=finish, usage=counts[-1])])


def calls(*wanted: tuple[str, dict[str, Any]], signature: str = "", prompt: int = 100) -> Streamed:
    """Function calls in one chunk, after a thought; the first call carries the signature."""
    parts: list[dict[str, Any]] = [{"functionCall": {"name": name, "args": args}} for name, args in wanted]
    if signature:
        parts[0] |= {"thoughtSignature": base64.b64encode(signature.encode()).decode()}
    thought = chunk({"text": "I should look that up.", "thought": True}, usage=usage(prompt, 0, thoughts=3))
    return Streamed([thought, chunk(*parts, finish="STOP", usage=usage(prompt, 7, thoughts=3))])


def blocked() -> Streamed:
    """The request is blocked: no candidates."""
    return Streamed([{"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": usage(100, 0)}])


def cut(*pieces: str, ending: Ending = Ending.CUT, last: bytes = b"") -> Streamed:
    """Text that never comes to its end."""
    chunks: list[dict[str, Any] | bytes] = [chunk({"text": piece}, usage=usage(100, 1)) for piece in pieces]
    return Streamed([*chunks, *([last] if last else [])], ending)


def refuses(status: int, name: str, *details: dict[str, Any], message: str = "No.", **headers: str) -> Refused:
    """`retry_after="1"` is the header Retry-After."""
    error: dict[str, Any] = {"code": status, "message": message, "status": name, "details": list(details)}
    return Refused(status, {"error": error}, {key.replace("_", "-"): value for key, value in headers.items()})


def breaks_with(status: int, name: str, *pieces: str) -> Streamed:
    """A stream that says in its middle that it failed."""
    text = [chunk({"text": piece}) for piece in pieces]
    return Streamed([*text, {"error": {"code": status, "message": "No.", "status": name}}])


def retry_info(delay: str) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}


def error_info(reason: str) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "googleapis.com"}


def encoded(piece: dict[str, Any] | bytes) -> bytes:
    """As server-sent events."""
    return piece if isinstance(piece, bytes) else b"data: " + json.dumps(piece).encode() + b"\r\n\r\n"
