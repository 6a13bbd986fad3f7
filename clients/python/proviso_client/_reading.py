"""This module keeps track of a turn while its events are read, which may take several calls.

Nothing in this module waits or calls the service.
"""

from collections.abc import Iterable
from typing import cast

from proviso_client._requests import matter_metadata
from proviso_client.errors import BrokenStream, ProvisoError
from proviso_client.steps import Step
from proviso_client.v1.chat_pb2 import AgentEvent, ChatRequest, FinalState, GetTurnResponse, LeaveOut, ResumeChatRequest

TURN_ID_KEY = "proviso-turn-id"

_KINDS = {
    "approval_required",
    "citation",
    "final_state",
    "text_discarded",
    "token",
    "tool_end",
    "tool_start",
    "turn_start",
}


class Reading:
    """Keeps track of how far the events of a turn have been read.

    `request` starts a new turn. When it is None, `turn_id` names an existing turn to attach to."""

    def __init__(
        self,
        request: ChatRequest | None,
        turn_id: str = "",
        sequence: int = 0,
        user_id: str = "",
        leave_out: LeaveOut | None = None,
    ) -> None:
        self._request = request
        self._user_id = user_id
        if request is not None and request.options.HasField("leave_out"):
            leave_out = request.options.leave_out
        self._leave_out = leave_out
        self.matter = () if request is None else matter_metadata(request)
        self.turn_id = turn_id
        self.sequence = sequence
        self.last_event: AgentEvent | None = None
        self.final: FinalState | None = None
        self.events_missed = False
        self._asked_after = -1
        self._texts: dict[str, list[str]] = {}

    @property
    def text(self) -> str:
        if self.final is not None:
            return self.final.message
        return "".join(piece for pieces in self._texts.values() for piece in pieces)

    def next_request(self) -> ChatRequest | ResumeChatRequest:
        """Returns the request that starts the turn, or the one that resumes it when the id of the turn is known."""
        if self._request is not None and not self.turn_id:
            return self._request
        self._asked_after = self.sequence
        return ResumeChatRequest(
            turn_id=self.turn_id, after_sequence=self.sequence, user_id=self._user_id, leave_out=self._leave_out
        )

    def learn(self, metadata: Iterable[tuple[str, str | bytes]] | None) -> None:
        """Takes the id of the turn from the metadata of the call, which arrives before the first event."""
        for key, value in metadata or ():
            if key == TURN_ID_KEY and not self.turn_id:
                self.turn_id = str(value)

    def take(self, event: AgentEvent) -> Step | None:
        """Records an event and returns the step in it, or None when the event holds no new step.

        It holds none when it is a heartbeat, was read before, or is of a kind that this package does not know. A final
        state is whole in itself: of a turn whose events are no longer kept, it is all that the service sends. Raises
        BrokenStream when an event before this one is missing."""
        sequence = event.sequence
        kind = event.WhichOneof("event")
        if kind == "final_state" and self.final is None:
            return self._end(event, sequence)
        if sequence <= self.sequence:
            return None
        if kind == "token":
            token = event.token
            if token.first_sequence != self.sequence + 1:
                raise self._gap(token.first_sequence)
            self.sequence = sequence
            self.last_event = event
            self._texts.setdefault(token.text_id, []).append(token.text)
            return token
        if sequence != self.sequence + 1:
            raise self._gap(sequence)
        self.turn_id = event.turn_id
        self.sequence = sequence
        self.last_event = event
        return self._step(event, kind)

    def may_be_stored(self, error: ProvisoError) -> bool:
        """Returns whether, after this error, the end of the turn may be all that the service can still give.

        That is so when the service no longer keeps the events, or when the caller may have read all of them."""
        if isinstance(error, BrokenStream):
            return self._asked_after == self.sequence
        return error.reason == "TURN_EXPIRED" and bool(self.turn_id)

    def only_its_end_is_left(self, turn: GetTurnResponse, error: ProvisoError) -> bool:
        """Returns whether the turn has ended and the service can give nothing more of it than its end."""
        events_left = isinstance(error, BrokenStream) and turn.last_sequence > self.sequence
        return turn.HasField("final_state") and not events_left

    def take_stored(self, turn: GetTurnResponse) -> Step:
        """Records the stored end of a turn whose other events are not available, and returns it as a step."""
        event = AgentEvent(turn_id=turn.turn_id, sequence=turn.last_sequence, final_state=turn.final_state)
        return self._end(event, turn.last_sequence)

    def _end(self, event: AgentEvent, sequence: int) -> Step:
        self.turn_id = event.turn_id
        self.events_missed = sequence > self.sequence + 1
        self.sequence = sequence
        self.last_event = event
        self.final = event.final_state
        return event.final_state

    def _step(self, event: AgentEvent, kind: str | None) -> Step | None:
        if kind == "text_discarded":
            self._texts.pop(event.text_discarded.text_id, None)
        return cast(Step, getattr(event, kind)) if kind in _KINDS else None

    def _gap(self, first: int) -> BrokenStream:
        return BrokenStream(f"Event {first} came after event {self.sequence} of turn {self.turn_id}")
