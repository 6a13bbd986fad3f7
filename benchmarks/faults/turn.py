"""Runs one turn and records what its caller sees."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

import grpc

from proviso_client.v1 import chat_pb2, context_pb2, turns_pb2
from proviso_client.v1.chat_pb2_grpc import ChatServiceStub
from tests.support.running import final_of, text_of

if TYPE_CHECKING:
    from proviso_client.v1.chat_pb2_grpc import ChatServiceAsyncStub

TURN_TIMEOUT_S = 150.0
"""Seconds to wait for a turn: more than the longest one takes."""

_SHOWN_CHARS = 110


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn. `seconds` is the time from the call to its final state; `saw` lists the events in words, with the
    heartbeats among them."""

    exit_reason: str
    retryable: str
    retry_after_s: float | None
    seconds: float
    model_calls: int
    tool_calls: int
    saw: tuple[str, ...]

    @property
    def completed(self) -> bool:
        return self.exit_reason == "COMPLETED"

    def with_model_calls(self, model_calls: int) -> "Turn":
        return replace(self, model_calls=model_calls)


async def ask(channel: grpc.aio.Channel, message: str, matter_id: str) -> Turn:
    """Runs a turn that neither reads nor fills the caches, so that it reaches the fault. It fails unless the events
    come without a gap and end in exactly one final state."""
    stub: ChatServiceAsyncStub = ChatServiceStub(channel)
    request = chat_pb2.ChatRequest(
        message=message,
        matter_context=context_pb2.MatterContext(matter_id=matter_id),
        options=chat_pb2.ChatOptions(disable_cache=True),
    )
    begun = time.perf_counter()
    events = [event async for event in stub.Chat(request, timeout=TURN_TIMEOUT_S)]
    seconds = time.perf_counter() - begun
    final = final_of(events)
    return Turn(
        exit_reason=turns_pb2.ExitReason.Name(final.exit_reason).removeprefix("EXIT_REASON_"),
        retryable=_words(chat_pb2.Retryable.Name(final.retryable), "RETRYABLE_"),
        retry_after_s=final.retry_after.ToTimedelta().total_seconds() if final.HasField("retry_after") else None,
        seconds=seconds,
        model_calls=final.usage.model_calls,
        tool_calls=final.tool_calls,
        saw=tuple(_seen(events)),
    )


def _seen(events: list[chat_pb2.AgentEvent]) -> Iterator[str]:
    for kind, group in groupby(events, lambda event: event.WhichOneof("event")):
        same = list(group)
        if kind == "token":
            yield f"text “{_short(''.join(event.token.text for event in same))}”"
        elif kind == "text_discarded":
            reasons = (chat_pb2.DiscardReason.Name(event.text_discarded.reason) for event in same)
            yield from (f"text void ({_words(reason, 'DISCARD_REASON_')})" for reason in reasons)
        elif kind == "tool_end":
            yield from (_tool_end(event.tool_end) for event in same)
        elif kind == "heartbeat":
            yield f"{len(same)} heartbeat" + "s" * (len(same) > 1)
        elif kind == "final_state":
            yield from _end(same[0].final_state, events)


def _tool_end(end: chat_pb2.ToolEnd) -> str:
    if end.error:
        return f"{end.tool} failed: “{_short(end.error)}”"
    if problem := next(iter(json.loads(end.output).get("errors", [])), None):
        return f"{end.tool} answered, but of {problem['filename']}: “{_short(problem['error'])}”"
    left_out = ", its typed result left out" * (end.truncated and not end.output_json)
    return f"{end.tool} answered with {len(end.output):,} characters{', cut' * end.truncated}{left_out}"


def _end(final: chat_pb2.FinalState, events: list[chat_pb2.AgentEvent]) -> Iterator[str]:
    """The citations, and the message where it differs from the text that was streamed."""
    if final.citations:
        yield f"{len(final.citations)} citation" + "s" * (len(final.citations) > 1)
    if final.message and final.message != text_of(events):
        yield f"message “{_short(final.message)}”"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_CHARS else f"{line[:_SHOWN_CHARS]}…"


def _words(name: str, prefix: str) -> str:
    return name.removeprefix(prefix).lower().replace("_", " ")
