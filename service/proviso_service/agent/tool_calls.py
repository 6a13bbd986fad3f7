"""The tool calls of a model's message, checked against the schemas of the tools."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage
from pydantic import ValidationError

from proviso_service.agent.tool_sizes import MAX_ARGUMENT_CHARS, too_long
from proviso_service.tools.base import ServedTool, Tool, ToolArgs
from proviso_service.tools.registry import ToolRegistry
from proviso_service.value_faults import words_for

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
    """`problem` tells the model precisely what is wrong."""

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
    is_served = isinstance(tool, ServedTool)
    # The matter comes from the turn and from nowhere else; one that the model sends is ignored. To the tool of another
    # server the name has a meaning of its own.
    given = {name: value for name, value in arguments.items() if is_served or name != "matter_id"}
    if too_long(given):
        return InvalidCall(call_id, tool.name, _TOO_LONG)
    if isinstance(tool, ServedTool) and (problems := tool.problems(given)):
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
