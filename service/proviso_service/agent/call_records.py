"""What is kept of a turn's tool calls: each is noted when it begins, so that a turn which is cut short has them too."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import UTC, datetime

from proviso_service.agent.tool_calls import ValidCall
from proviso_service.context.model import ItemRef, ItemType
from proviso_service.tools.base import item_of
from proviso_service.turns import Decision, ToolCallRecord

MAX_INPUT_CHARS = 4_000
MAX_ERROR_CHARS = 1_000

UNFINISHED = "The turn ended before the call did."
"""The error of a call that still runs."""

TOOL_CHANGED = "The tool changed while the call waited for a decision, so it was not called."
"""The error of a call that was not made for that, whether it was approved or needed no approval before."""


def begun(call: ValidCall, decision: Decision | None) -> ToolCallRecord:
    """A call that begins now; `decision` is a person's, where one was asked."""
    tool = item_of(call.tool)
    return ToolCallRecord(
        call_id=call.call_id,
        tool=tool.name,
        server_name=tool.server_name,
        input_json=call.input_json[:MAX_INPUT_CHARS],
        start_time=datetime.now(UTC),
        duration_s=0.0,
        error=UNFINISHED,
        decision=decision,
    )


def record_end(
    records: list[ToolCallRecord], call_id: str, *, error: str, duration_s: float, from_cache: bool = False
) -> None:
    """Completes the record of a call that has begun; ids are unique within a turn."""
    index = next(index for index, record in enumerate(records) if record.call_id == call_id)
    records[index] = replace(
        records[index], error=error[:MAX_ERROR_CHARS], duration_s=duration_s, from_cache=from_cache
    )


def settled(records: Iterable[ToolCallRecord]) -> tuple[ToolCallRecord, ...]:
    """The records of a turn that ends now; calls that still run have taken until now."""
    now = datetime.now(UTC)
    return tuple(
        replace(record, duration_s=max(0.0, (now - record.start_time).total_seconds()))
        if record.error == UNFINISHED
        else record
        for record in records
    )


def called_tools(records: Iterable[ToolCallRecord], refused: Collection[str]) -> frozenset[ItemRef]:
    """The tools that were called; `refused` are the ids of the calls that nobody approved."""
    made = (record for record in records if record.call_id not in refused and record.error != TOOL_CHANGED)
    return frozenset(ItemRef(ItemType.TOOL, record.tool, record.server_name) for record in made)
