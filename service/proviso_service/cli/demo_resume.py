"""Cuts a turn's stream, resumes it, and proves that nothing was lost or repeated."""

from collections.abc import AsyncIterable, Sequence
from dataclasses import dataclass

from proviso_client.v1 import chat_pb2
from proviso_service.cli.client import Client
from proviso_service.cli.problems import CommandError

TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Resumed:
    """The two parts of a turn whose stream was cut."""

    before: Sequence[chat_pb2.AgentEvent]
    after: Sequence[chat_pb2.AgentEvent]

    @property
    def cut_after(self) -> int:
        return self.before[-1].sequence

    @property
    def last_sequence(self) -> int:
        return self.after[-1].sequence


async def cut_and_resume(client: Client, request: chat_pb2.ChatRequest, events_before_cut: int) -> Resumed:
    """Raises CommandError when the two parts are not exactly the turn."""
    before = await _first_events(client, request, events_before_cut)
    turn_id, cut_after = before[-1].turn_id, before[-1].sequence
    after = await _logged(client.chat.ResumeChat(_from(turn_id, cut_after), timeout=TIMEOUT_S))
    replay = await _logged(client.chat.ResumeChat(_from(turn_id, 0), timeout=TIMEOUT_S))
    check_complete(replay)
    check_complete([*before, *after])
    if story([*before, *after]) != story(replay):
        raise CommandError("The resumed stream differs from a replay of the turn")
    return Resumed(before, after)


def check_complete(events: Sequence[chat_pb2.AgentEvent]) -> None:
    """Raises CommandError unless the events cover 1 to the final state once, in order."""
    expected = 1
    for event in events:
        first = event.token.first_sequence if event.HasField("token") else event.sequence
        if first != expected:
            raise CommandError(f"Event {expected} was expected and {first} came: an event was lost or repeated")
        expected = event.sequence + 1
    if not events or not events[-1].HasField("final_state"):
        raise CommandError("The stream ended before the turn")


def story(events: Sequence[chat_pb2.AgentEvent]) -> list[tuple[str, str | bytes]]:
    """A turn without the accidents of its transport: neighbouring tokens of a text are one."""
    told: list[tuple[str, str | bytes]] = []
    for event in events:
        if not event.HasField("token"):
            told.append(("", event.SerializeToString(deterministic=True)))
        elif told and told[-1][0] == event.token.text_id:
            told[-1] = (event.token.text_id, f"{told[-1][1]!s}{event.token.text}")
        else:
            told.append((event.token.text_id, event.token.text))
    return told


async def _first_events(client: Client, request: chat_pb2.ChatRequest, count: int) -> list[chat_pb2.AgentEvent]:
    """Cancels the call after `count` events, or just before the end of a turn that has fewer."""
    call = client.chat.Chat(request, timeout=TIMEOUT_S)
    events: list[chat_pb2.AgentEvent] = []
    async for event in call:
        if event.HasField("final_state"):
            break
        if event.sequence:
            events.append(event)
        if len(events) == count:
            break
    call.cancel()
    if not events:
        raise CommandError("The turn ended before its stream could be cut")
    return events


async def _logged(stream: AsyncIterable[chat_pb2.AgentEvent]) -> list[chat_pb2.AgentEvent]:
    """The events of the log, without heartbeats."""
    return [event async for event in stream if event.sequence]


def _from(turn_id: str, after_sequence: int) -> chat_pb2.ResumeChatRequest:
    return chat_pb2.ResumeChatRequest(turn_id=turn_id, after_sequence=after_sequence)
