"""Decides which tool calls need a person's approval, asks for it, and tells what follows from the decisions."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from proviso_service.agent.tool_calls import ValidCall
from proviso_service.context.catalog.catalog import Catalog, CatalogHolder
from proviso_service.context.catalog.items import Approval
from proviso_service.context.model import ApprovedTool, ItemRef
from proviso_service.tools.base import item_of
from proviso_service.turns import AskedCall, Decision, TurnApprovals

ASK_ANEW = "Call it again if it is still needed: the person is asked about it as it is now."
GO_ON_WITHOUT = "Do not call it again in this turn. Go on without it, and say what could not be done."
NOT_ASKED_AGAIN = "This call was not made: it was refused before in this turn, so nobody was asked about it again."
"""The error of a call that a person refused before, or whose tool persons refused MAX_REFUSALS times in the turn."""

MAX_REFUSALS = 2

_APPROVED = frozenset({Decision.APPROVE_ONCE, Decision.APPROVE_FOR_SESSION})
_WORDS = {
    Decision.APPROVE_ONCE: "Approved once",
    Decision.APPROVE_FOR_SESSION: "Approved for the session",
    Decision.DENY: "Denied",
    None: "Not decided in time",
}

Decisions = dict[str, Decision | None]
"""A person's decision by the id of the tool call; None where nobody decided in time."""


@dataclass(frozen=True, slots=True)
class ApprovalOutcome:
    """The result of asking persons about the tool calls of a message. `changed` are the ids of the calls whose tool is
    no longer what was approved; such a call may also be one that nobody was asked about. `repeated` are the ids of the
    calls that nobody was asked about because they were refused before."""

    decisions: Decisions
    changed: frozenset[str] = frozenset()
    repeated: frozenset[str] = frozenset()


class ToolApprovals:
    """The decisions on the tool calls of one turn. `approved` are tools that need no further approval while they stay
    as they are; `asked` are the ids of the calls that persons were asked about last.

    A tool needs an approval where the catalog said so when the turn `began`, and also where the catalog says so now,
    because calls go to the servers that are set up now."""

    def __init__(
        self,
        began: Catalog,
        catalog: CatalogHolder,
        approvals: TurnApprovals,
        approved: Iterable[ApprovedTool] = (),
        asked: Iterable[str] = (),
    ) -> None:
        self.approved = frozenset(approved)
        self.asked = frozenset(asked)
        self._began = began
        self._catalog = catalog
        self._approvals = approvals

    async def decide(
        self, calls: Sequence[ValidCall], suspend: Callable[[], Awaitable[str]], refused: Collection[str] = ()
    ) -> ApprovalOutcome:
        """Asks persons about those calls of a message that need an approval, and returns the decisions. `suspend`
        returns the state that the turn can be resumed from while it waits. `refused` are the ids of the calls that were
        refused before in the turn."""
        needy = frozenset(call.call_id for call in calls if self._needs_asking(item_of(call.tool)))
        repeated = needy.intersection(refused)
        calls = [call for call in calls if call.call_id not in repeated]
        to_ask = self._to_ask(calls)
        if not to_ask:
            return ApprovalOutcome({}, repeated=repeated)
        self.asked = frozenset(call.call_id for call in to_ask)
        decisions = dict(await self._approvals.decide(to_ask, suspend))
        # The calls as they were when persons were asked, which may have been before a restart.
        made = [(call, decision) for call, decision in self._approvals.made if call.call_id in decisions]
        self.approved |= {
            ApprovedTool.of(call.ref, call.sha256)
            for call, decision in made
            if decision is Decision.APPROVE_FOR_SESSION
        }
        changed = self._changed(calls, [call for call, decision in made if decision in _APPROVED])
        return ApprovalOutcome(decisions, changed, repeated)

    def _to_ask(self, calls: Sequence[ValidCall]) -> list[AskedCall]:
        """The calls that persons are asked about. A turn that was resumed after a restart asks about the same calls as
        before, whatever the catalog says by now."""
        asked = [self._question(call) for call in calls]
        if before := [call for call in asked if call.call_id in self.asked]:
            return before
        return [call for call in asked if self._needs_asking(call.ref)]

    def _question(self, call: ValidCall) -> AskedCall:
        tool = item_of(call.tool)
        sha256 = self._catalog.current.tool_sha256(tool)
        return AskedCall(call.call_id, call.tool.name, tool, call.input_json, sha256)

    def _needs_asking(self, tool: ItemRef) -> bool:
        now = self._catalog.current
        is_marked = self._began.approval_of(tool) is Approval.REQUIRED
        # A server that was removed meanwhile gets no calls, so nobody needs to be asked about it.
        is_marked |= now.has_server(tool.server_name) and now.approval_of(tool) is Approval.REQUIRED
        return is_marked and not any(one.ref == tool and now.still_approves(one) for one in self.approved)

    def _changed(self, calls: Sequence[ValidCall], approved: Sequence[AskedCall]) -> frozenset[str]:
        """The ids of the calls whose tool changed while persons were asked. A tool that is not listed now is left out,
        since it cannot be called anyway. A tool that was not listed when persons were asked was approved whatever it
        would turn out to be."""
        current = self._catalog.current
        replaced = {call.call_id for call in approved if _is_another(call.sha256, current.tool_sha256(call.ref))}
        others = [call for call in calls if call.call_id not in self.asked]
        return frozenset(replaced | {call.call_id for call in others if self._needs_asking(item_of(call.tool))})


def _is_another(sha256: str, now: str) -> bool:
    return bool(sha256 and now) and sha256 != now


def refused_calls(decisions: Mapping[str, Decision | None]) -> frozenset[str]:
    """The ids of the calls that persons did not approve, or did not decide on in time."""
    return frozenset(call_id for call_id, decision in decisions.items() if decision not in _APPROVED)


def why_not_made(decision: Decision | None) -> str:
    """The error message of a call that was not approved, for people and for the model."""
    return "The person did not approve this call." if decision else "Nobody decided on this call in time."


def in_words(ref: ItemRef, decision: Decision | None) -> str:
    """A decision in words, for example `Approved once: time:get_current_time`."""
    return f"{_WORDS[decision]}: {ref.server_name}:{ref.name}"
