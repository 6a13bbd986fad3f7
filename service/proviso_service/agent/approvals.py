"""Which tool calls need a person's decision, and what follows from it."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from proviso_service.agent.tool_calls import ValidCall
from proviso_service.context.catalog.catalog import Catalog
from proviso_service.context.catalog.tools import Approval
from proviso_service.context.model import ItemRef
from proviso_service.tools.base import item_of
from proviso_service.turns.clock import TurnClock
from proviso_service.turns.ports import Approvals, AskedCall
from proviso_service.turns.records import Decision

GO_ON_WITHOUT = "Do not call it again in this turn. Go on without it, and say what could not be done."

_APPROVED = frozenset({Decision.APPROVE_ONCE, Decision.APPROVE_FOR_SESSION})
_WORDS = {
    Decision.APPROVE_ONCE: "Approved once",
    Decision.APPROVE_FOR_SESSION: "Approved for the session",
    Decision.DENY: "Denied",
    None: "Not decided in time",
}

Decisions = dict[str, Decision | None]
"""By call id; None where nobody decided in time."""


def needs_approval(catalog: Catalog) -> Callable[[ItemRef], bool]:
    """Whether a person has to approve the calls of a tool."""

    return lambda tool: catalog.approval_of(tool) is Approval.REQUIRED


class ToolApprovals:
    """The decisions on one turn's calls. `approved` are tools that need no further approval; `asked` are the ids of the
    calls that persons were asked about last. While they are, the clock stands still."""

    def __init__(
        self,
        needed: Callable[[ItemRef], bool],
        approvals: Approvals,
        clock: TurnClock,
        approved: Iterable[ItemRef] = (),
        asked: Iterable[str] = (),
    ) -> None:
        self.approved = frozenset(approved)
        self.asked = frozenset(asked)
        self._needed = needed
        self._approvals = approvals
        self._clock = clock

    async def decide(self, calls: Sequence[ValidCall], suspend: Callable[[], Awaitable[str]]) -> Decisions:
        """The decisions on those calls of a message that need one. `suspend` gives what the turn goes on from."""
        asked = self._to_ask(calls)
        if not asked:
            return {}
        self.asked = frozenset(call.call_id for call in asked)
        with self._clock.stopped():
            decisions = dict(await self._approvals.decide(asked, suspend))
        for_session = {call.ref for call in asked if decisions[call.call_id] is Decision.APPROVE_FOR_SESSION}
        self.approved |= for_session
        return decisions

    def _to_ask(self, calls: Sequence[ValidCall]) -> list[AskedCall]:
        """In a turn that was taken up again: those that were asked about before, whatever the catalog says by now."""
        asked = [AskedCall(call.call_id, call.tool.name, item_of(call.tool), call.input_json) for call in calls]
        if before := [call for call in asked if call.call_id in self.asked]:
            return before
        return [call for call in asked if self._needed(call.ref) and call.ref not in self.approved]


def refused_calls(decisions: Mapping[str, Decision | None]) -> frozenset[str]:
    """The ids of the calls that are not made."""
    return frozenset(call_id for call_id, decision in decisions.items() if decision not in _APPROVED)


def why_not_made(decision: Decision | None) -> str:
    """The error of a call that was refused, for people and for the model."""
    return "The person did not approve this call." if decision else "Nobody decided on this call in time."


def in_words(ref: ItemRef, decision: Decision | None) -> str:
    """`Approved once: time:get_current_time`."""
    return f"{_WORDS[decision]}: {ref.server_name}:{ref.name}"
