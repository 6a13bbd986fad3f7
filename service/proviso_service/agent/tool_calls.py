"""The tool calls of a model's message: checked against the schemas of the tools, bounded in size, and recorded.

A call is recorded when it begins, so that a turn which is cut short has its record, too."""

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from langchain_core.messages import AIMessage
from pydantic import ValidationError

from proviso_service.context.model import ItemRef, ItemType
from proviso_service.errors import FailureCause
from proviso_service.tools.base import ExternalTool, Tool, ToolArgs, item_of
from proviso_service.tools.registry import ToolRegistry
from proviso_service.tools.rendering import to_json
from proviso_service.turns import CALL_UNFINISHED, Decision, ToolCallRecord, TurnConfig
from proviso_service.value_faults import words_for

MAX_ARGUMENT_CHARS = 128 * 1024
"""The most characters of a call's arguments as JSON; the longest query that a tool accepts fits in."""


_NOT_JSON = "The arguments are not valid JSON."
_TOO_LONG = f"The arguments are too long: more than {MAX_ARGUMENT_CHARS} characters of JSON."
_MAX_PROBLEM_CHARS = 1_000


@dataclass(frozen=True, slots=True)
class ValidCall:
    call_id: str
    tool: Tool
    args: ToolArgs

    @property
    def input_json(self) -> str:
        """The arguments, as the model gave them."""
        return self.args.model_dump_json(exclude_unset=True)


@dataclass(frozen=True, slots=True)
class InvalidCall:
    """A tool call that cannot be made. `problem` tells the model what is wrong with it."""

    call_id: str
    name: str
    problem: str


def read_calls(message: AIMessage, tools: ToolRegistry) -> list[ValidCall | InvalidCall]:
    """The calls of a message in order, checked against the schemas of the tools."""
    calls: list[ValidCall | InvalidCall] = []
    for call in message.tool_calls:
        call_id = str(call["id"])
        tool = tools.get(call["name"])
        if tool is None:
            known = ", ".join(tools.names)
            problem = f"There is no such tool. The tools are: {known}."
            calls.append(InvalidCall(call_id, call["name"], problem[:_MAX_PROBLEM_CHARS]))
            continue
        calls.append(_read_call(call_id, tool, call["args"]))
    return calls + [InvalidCall(str(c["id"]), c["name"] or "", _NOT_JSON) for c in message.invalid_tool_calls]


def _read_call(call_id: str, tool: Tool, arguments: dict[str, Any]) -> ValidCall | InvalidCall:
    is_served = isinstance(tool, ExternalTool)
    # The matter comes from the turn alone, so one that the model sends is ignored. For a tool of another server, an
    # argument of this name means something else.
    given = {name: value for name, value in arguments.items() if is_served or name != "matter_id"}
    if too_long(given):
        return InvalidCall(call_id, tool.name, _TOO_LONG)
    if isinstance(tool, ExternalTool) and (problems := tool.problems(given)):
        return InvalidCall(call_id, tool.name, _describe(problems))
    try:
        return ValidCall(call_id, tool, tool.args.model_validate(given))
    except ValidationError as error:
        return InvalidCall(call_id, tool.name, _describe(_problems(error)))


def _problems(error: ValidationError) -> Iterable[str]:
    return (
        f"{'.'.join(map(str, e['loc'])) or 'arguments'}: {words_for(e)}"
        for e in error.errors(include_url=False, include_input=False)
    )


def _describe(problems: Iterable[str]) -> str:
    return ("The arguments do not fit the tool's schema: " + "; ".join(problems))[:_MAX_PROBLEM_CHARS]


MAX_OUTPUT_JSON_BYTES = 512 * 1024
"""The most bytes of a typed result as JSON in UTF-8."""


def output_json_bytes(settings: TurnConfig) -> int:
    """The most bytes of one typed result, so that the results of a turn together fill at most half of the turn's
    log."""
    return min(MAX_OUTPUT_JSON_BYTES, settings.log_max_bytes // (2 * max(1, settings.max_tool_calls)))


def output_json(data: dict[str, Any], max_bytes: int) -> str:
    """A typed result as JSON. It is empty where the result is larger than `max_bytes`, because a part of a JSON text is
    of no use."""
    text = to_json(data)
    return text if len(text) <= max_bytes and len(text.encode("utf-8", "surrogatepass")) <= max_bytes else ""


def result_data(text: str) -> dict[str, Any]:
    """The typed result that a tool's message holds; empty where it is not JSON, or was cut."""
    try:
        data = json.loads(text)
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


def too_long(arguments: dict[str, Any]) -> bool:
    return len(to_json(arguments)) > MAX_ARGUMENT_CHARS


MAX_INPUT_CHARS = 4_000
MAX_ERROR_CHARS = 1_000

TOOL_CHANGED = "The tool changed while the call waited for a decision, so it was not called."
"""The error of a call that was not made because its tool changed meanwhile, whether the call had been approved or had
needed no approval."""


def started_record(call: ValidCall, decision: Decision | None) -> ToolCallRecord:
    """The record of a call that begins now. `decision` is that of a person, where one was asked."""
    tool = item_of(call.tool)
    return ToolCallRecord(
        call_id=call.call_id,
        tool=tool.name,
        server_name=tool.server_name,
        input_json=call.input_json[:MAX_INPUT_CHARS],
        start_time=datetime.now(UTC),
        duration_s=0.0,
        error=CALL_UNFINISHED,
        cause=FailureCause.CANCELLED,
        decision=decision,
    )


def record_end(
    records: list[ToolCallRecord],
    call_id: str,
    *,
    error: str,
    cause: FailureCause | None,
    duration_s: float,
    from_cache: bool = False,
) -> None:
    """Completes the record of a call that has ended. Ids of calls are unique within a turn."""
    index = next(index for index, record in enumerate(records) if record.call_id == call_id)
    records[index] = replace(
        records[index], error=error[:MAX_ERROR_CHARS], cause=cause, duration_s=duration_s, from_cache=from_cache
    )


def finished_records(records: Iterable[ToolCallRecord]) -> tuple[ToolCallRecord, ...]:
    """The records of a turn that ends now. Calls that still run get the time until now as their duration."""
    now = datetime.now(UTC)
    return tuple(
        replace(record, duration_s=max(0.0, (now - record.start_time).total_seconds()))
        if record.error == CALL_UNFINISHED
        else record
        for record in records
    )


def called_tools(records: Iterable[ToolCallRecord], refused: Collection[str]) -> frozenset[ItemRef]:
    """The tools that were called, without the calls whose ids are in `refused`, which nobody approved."""
    made = (record for record in records if record.call_id not in refused and record.error != TOOL_CHANGED)
    return frozenset(ItemRef(ItemType.TOOL, record.tool, record.server_name) for record in made)
