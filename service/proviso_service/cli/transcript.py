"""What a turn looks like to a person: a pure function from events to steps on a page.

The steps are few, so that a terminal, a log file and a test can each carry them out in their own way.
"""

import json
from dataclasses import dataclass

from proviso_client.v1 import chat_pb2, turns_pb2
from proviso_service.cli.output import printable

QUOTE_CHARS = 160
INPUT_CHARS = 80


@dataclass(frozen=True, slots=True)
class Write:
    """Text of the answer; goes on where the last text ended."""

    text: str


@dataclass(frozen=True, slots=True)
class Withdraw:
    """The answer's text written so far, `text`, is void."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Busy:
    """Work that has begun; worth showing only while it lasts."""

    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """A line about the turn, beside the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Footnote:
    """A line of the answer's apparatus: a numbered source."""

    text: str


Step = Write | Withdraw | Busy | Note | Footnote

_DISCARD = {
    chat_pb2.DISCARD_REASON_GROUNDING: "it stated facts without a source",
    chat_pb2.DISCARD_REASON_MODEL_RETRY: "the model's stream failed and is tried again",
    chat_pb2.DISCARD_REASON_EMPTY_RETRIEVAL: "the search found nothing to rest it on",
    chat_pb2.DISCARD_REASON_NOT_FINAL: "it was not the answer yet",
}
_RETRY = {
    chat_pb2.RETRYABLE_YES: "sending it again can help",
    chat_pb2.RETRYABLE_NO: "sending it again does not help",
    chat_pb2.RETRYABLE_MAYBE: "sending it again may help",
}


class Transcript:
    """Folds a turn's events, in order, into steps. Holds the texts that are still valid, by text id."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._inputs: dict[str, str] = {}

    @property
    def text(self) -> str:
        """The answer's text that is valid now."""
        return "".join(self._texts.values())

    def apply(self, event: chat_pb2.AgentEvent) -> list[Step]:
        """The steps that this event adds."""
        steps: list[Step] = []
        match event.WhichOneof("event"):
            case "token":
                steps = self._token(event.token)
            case "text_discarded":
                steps = self._discarded(event.text_discarded)
            case "tool_start":
                steps = self._tool_start(event.tool_start)
            case "tool_end":
                steps = self._tool_end(event.tool_end)
            case "final_state":
                steps = self._final(event.final_state)
        return steps

    def _token(self, token: chat_pb2.Token) -> list[Step]:
        text = printable(token.text)
        self._texts[token.text_id] = self._texts.get(token.text_id, "") + text
        return [Write(text)]

    def _discarded(self, discarded: chat_pb2.TextDiscarded) -> list[Step]:
        """Later texts, if any, are written again after the withdrawn one is gone."""
        if not self._texts.get(discarded.text_id):
            return []
        whole = self.text
        del self._texts[discarded.text_id]
        steps: list[Step] = [Withdraw(whole, _DISCARD.get(discarded.reason, "it is void"))]
        return [*steps, Write(self.text)] if self.text else steps

    def _tool_start(self, start: chat_pb2.ToolStart) -> list[Step]:
        self._inputs[start.call_id] = call = f"{printable(start.tool)}{_arguments(start.input_json)}"
        return [Busy(f"{call} ...")]

    def _tool_end(self, end: chat_pb2.ToolEnd) -> list[Step]:
        call = self._inputs.pop(end.call_id, printable(end.tool))
        duration_s = end.duration.ToNanoseconds() / 1e9
        line = f"{call}  {duration_s:.2f} s" + (", from cache" if end.from_cache else "")
        return [Note(line + (f", failed: {_one_line(end.error, QUOTE_CHARS)}" if end.error else ""))]

    def _final(self, final: chat_pb2.FinalState) -> list[Step]:
        steps = self._answer(printable(final.message)) if final.display_message else []
        steps += [Footnote(line) for line in citation_lines(final)]
        if final.exit_reason != turns_pb2.EXIT_REASON_COMPLETED:
            steps.append(Note(ending(final)))
        return steps

    def _answer(self, message: str) -> list[Step]:
        """The final message is the authority: text that differs from it is replaced."""
        shown = self.text
        if shown.strip() == message.strip():
            return []
        self._texts = {"final": message}
        steps: list[Step] = [Withdraw(shown, "the final answer replaces it")] if shown else []
        return [*steps, Write(message)] if message else steps


def citation_lines(final: chat_pb2.FinalState) -> list[str]:
    """A footnote for each citation number, with its first quote."""
    by_number: dict[int, list[chat_pb2.Citation]] = {}
    for citation in final.citations:
        by_number.setdefault(citation.number, []).append(citation)
    return [_footnote(by_number[number]) for number in sorted(by_number)]


def _footnote(citations: list[chat_pb2.Citation]) -> str:
    first = citations[0]
    place = first.filename + (f", {first.heading}" if first.heading else "")
    place += f", page {first.page}" if first.page else ""
    quote = _one_line(first.quote, QUOTE_CHARS)
    line = f"[{first.number}] {_one_line(place, 200)}: \u201c{quote}\u201d  {printable(first.permalink)}"
    return line + (f"  (and {len(citations) - 1} more)" if len(citations) > 1 else "")


def ending(final: chat_pb2.FinalState) -> str:
    """How a turn ended that did not complete, and whether trying again helps."""
    name = turns_pb2.ExitReason.Name(final.exit_reason).removeprefix("EXIT_REASON_")
    hint = _RETRY.get(final.retryable, "")
    if hint and final.HasField("retry_after"):
        hint += f" after {final.retry_after.ToNanoseconds() / 1e9:.0f} s"
    return f"Ended: {name}" + (f"; {hint}" if hint else "")


def _arguments(input_json: str) -> str:
    """A call's arguments, short: `(query="governing law")`."""
    try:
        arguments = json.loads(input_json or "{}")
    except ValueError:
        return ""
    if not isinstance(arguments, dict) or not arguments:
        return ""
    shown = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items())
    return f"({_one_line(shown, INPUT_CHARS)})"


def _one_line(text: str, max_chars: int) -> str:
    line = " ".join(printable(text).split())
    return line if len(line) <= max_chars else line[: max_chars - 3].rstrip() + "..."
