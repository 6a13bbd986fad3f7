"""What is known of a turn while its events are read, over as many calls as it takes. Nothing here waits or calls."""

from collections.abc import Iterable
from typing import cast

from proviso_client.errors import BrokenStream, ProvisoError
from proviso_client.steps import Step
from proviso_client.v1.chat_pb2 import AgentEvent, ChatRequest, FinalState, GetTurnResponse, ResumeChatRequest

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
    """The place in a turn's events. `request` starts the turn; without one it is attached to by `turn_id`."""

    def __init__(self, request: ChatRequest | None, turn_id: str = "", sequence: int = 0, user_id: str = "") -> None:
        self._request = request
        self._user_id = user_id
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
        """What starts the turn until its id is known, and goes on with it from then on."""
        if self._request is not None and not self.turn_id:
            return self._request
        self._asked_after = self.sequence
        return ResumeChatRequest(turn_id=self.turn_id, after_sequence=self.sequence, user_id=self._user_id)

    def learn(self, metadata: Iterable[tuple[str, str | bytes]] | None) -> None:
        """The turn's id is ahead of the first event."""
        for key, value in metadata or ():
            if key == TURN_ID_KEY and not self.turn_id:
                self.turn_id = str(value)

    def take(self, event: AgentEvent) -> Step | None:
        """What an event holds; None for a heartbeat, an event that was read before, and one of a kind that this
        package does not know. Raises BrokenStream when an event is missing before it."""
        sequence = event.sequence
        if sequence <= self.sequence:
            return None
        kind = event.WhichOneof("event")
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
        """Whether the turn's end may be all that is left, after a stream that failed or ended so: its events are no
        longer kept, or the caller has them all."""
        if isinstance(error, BrokenStream):
            return self._asked_after == self.sequence
        return error.reason == "TURN_EXPIRED" and bool(self.turn_id)

    def only_its_end_is_left(self, turn: GetTurnResponse, error: ProvisoError) -> bool:
        """Whether the turn has ended, and nothing but its end can still be had."""
        events_left = isinstance(error, BrokenStream) and turn.last_sequence > self.sequence
        return turn.HasField("final_state") and not events_left

    def take_stored(self, turn: GetTurnResponse) -> Step:
        """The end of a turn of which there is nothing else."""
        self.events_missed = turn.last_sequence > self.sequence + 1
        self.sequence = turn.last_sequence
        self.final = turn.final_state
        self.last_event = AgentEvent(turn_id=turn.turn_id, sequence=turn.last_sequence, final_state=turn.final_state)
        return turn.final_state

    def _step(self, event: AgentEvent, kind: str | None) -> Step | None:
        if kind == "final_state":
            self.final = event.final_state
        elif kind == "text_discarded":
            self._texts.pop(event.text_discarded.text_id, None)
        return cast(Step, getattr(event, kind)) if kind in _KINDS else None

    def _gap(self, first: int) -> BrokenStream:
        return BrokenStream(f"Event {first} came after event {self.sequence} of turn {self.turn_id}")
