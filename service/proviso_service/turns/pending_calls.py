"""The tool calls that a turn waits for, and what was decided on them."""

import asyncio
from collections.abc import Sequence
from datetime import datetime

from proviso_service.turns.events import ApprovalRequired
from proviso_service.turns.ports import AskedCall
from proviso_service.turns.records import Decision


class PendingCalls:
    """Calls are known by their position. `settled` is set once all of them are decided."""

    def __init__(
        self, calls: Sequence[AskedCall], expire_time: datetime, decisions: Sequence[Decision | None] = ()
    ) -> None:
        self.calls = tuple(calls)
        self.expire_time = expire_time
        self.settled = asyncio.Event()
        self._decisions = list(decisions) or [None] * len(self.calls)
        self._settle()

    @property
    def decisions(self) -> dict[str, Decision | None]:
        """By call id; None where nobody has decided."""
        return {call.call_id: decision for call, decision in zip(self.calls, self._decisions, strict=True)}

    @property
    def made(self) -> tuple[tuple[AskedCall, Decision], ...]:
        """What was decided so far."""
        known = zip(self.calls, self._decisions, strict=True)
        return tuple((call, decision) for call, decision in known if decision is not None)

    @property
    def asked(self) -> tuple[ApprovalRequired, ...]:
        """What a person is asked, for each call that nobody has decided on."""
        return tuple(self._question(call) for call in self.calls if self.decisions[call.call_id] is None)

    def decided_by(self, call_id: str, decision: Decision) -> tuple[int, ...]:
        """The positions that a decision on a call decides: the call's own and, where it approves for the session, those
        of the other waiting calls of the same tool. None where the call does not wait."""
        waiting = {position: call for position, call in enumerate(self.calls) if self._decisions[position] is None}
        own = next((call for call in waiting.values() if call.call_id == call_id), None)
        if own is None:
            return ()
        for_all = decision is Decision.APPROVE_FOR_SESSION
        return tuple(position for position, call in waiting.items() if call is own or (for_all and call.ref == own.ref))

    def record(self, positions: Sequence[int], decision: Decision) -> None:
        for position in positions:
            self._decisions[position] = decision
        self._settle()

    def _settle(self) -> None:
        if None not in self._decisions:
            self.settled.set()

    def _question(self, call: AskedCall) -> ApprovalRequired:
        return ApprovalRequired(call.call_id, call.tool, call.ref.server_name, call.input_json, self.expire_time)
