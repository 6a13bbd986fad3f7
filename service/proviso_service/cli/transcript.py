"""What a turn looks like to a person: a transcript turns its events into steps, and a screen carries them out.

The transcript is a pure function from events to few kinds of steps. The screen redraws on a terminal, and only ever
appends where the output is a file or a pipe.
"""

import json
import math
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console

from proviso_client.display import citation_text
from proviso_client.history import exit_name
from proviso_client.v1 import chat_pb2, turns_pb2
from proviso_service.cli.output import printable

QUOTE_CHARS = 160
INPUT_CHARS = 80
CLEAR_LINE = "\r\x1b[2K"


@dataclass(frozen=True, slots=True)
class Write:
    """Text of the answer, which goes on where the last text ended."""

    text: str


@dataclass(frozen=True, slots=True)
class Withdraw:
    """Takes back `text`, which is all of the answer that was written so far."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Busy:
    """Work that has begun and is worth showing only while it lasts."""

    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """A line that tells something about the turn and is not a part of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Footnote:
    """A source below the answer."""

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
    """Turns the events of a turn, in their order, into steps. It holds the texts that are still valid, by text id."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._inputs: dict[str, str] = {}

    @property
    def text(self) -> str:
        """The part of the answer that is valid now."""
        return "".join(self._texts.values())

    def apply(self, event: chat_pb2.AgentEvent) -> list[Step]:
        """Returns the steps that an event adds."""
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
        """Takes back the whole answer, and writes again what is left of it without the discarded text."""
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
        steps += [Note(line) for line in left_out(final)]
        if final.exit_reason != turns_pb2.EXIT_REASON_COMPLETED:
            steps.append(Note(ending(final)))
        return steps

    def _answer(self, message: str) -> list[Step]:
        """Replaces what was written where it differs from the final message, which is what counts."""
        shown = self.text
        if shown.strip() == message.strip():
            return []
        self._texts = {"final": message}
        steps: list[Step] = [Withdraw(shown, "the final answer replaces it")] if shown else []
        return [*steps, Write(message)] if message else steps


def citation_lines(final: chat_pb2.FinalState) -> list[str]:
    """Makes a footnote for each citation number, with the first quote of that number, and then one for each source that
    the answer names or quotes without a number."""
    by_source: dict[tuple[int, str], list[chat_pb2.Citation]] = {}
    for citation in final.citations:
        by_source.setdefault((citation.number, "" if citation.number else citation_text(citation)), []).append(citation)
    return [_footnote(by_source[source]) for source in sorted(by_source, key=lambda source: (not source[0], source[0]))]


def _footnote(citations: list[chat_pb2.Citation]) -> str:
    first = citations[0]
    line = _one_line(citation_text(first), 200)
    line += f": \u201c{_one_line(first.quote, QUOTE_CHARS)}\u201d" if first.quote else ""
    line += f"  {printable(first.permalink)}" if first.permalink else ""
    return line + (f"  (and {len(citations) - 1} more)" if len(citations) > 1 else "")


def left_out(final: chat_pb2.FinalState) -> list[str]:
    """Says what the answer lacks of what the model wrote."""
    count = final.omitted_sentences
    words = "1 sentence was" if count == 1 else f"{count:,} sentences were"
    lines = [f"{words} left out, because no source holds what the model wrote there"] if count else []
    if final.removed_markup:
        lines.append("Images, web addresses or HTML that no source holds were taken out of it")
    if final.message_truncated:
        lines.append("The end of the answer was left out: it is longer than the service sends")
    return lines


def ending(final: chat_pb2.FinalState) -> str:
    """Says how a turn ended that did not complete, and whether it helps to send the message again."""
    name = exit_name(final.exit_reason, final.exit_cause)
    hint = _RETRY.get(final.retryable, "")
    if hint and final.HasField("retry_after"):
        when = f"after {math.ceil(final.retry_after.ToNanoseconds() / 1e9):,} s"
        hint += f"; it may {when}" if final.retryable == chat_pb2.RETRYABLE_NO else f" {when}"
    return f"Ended: {name}" + (f"; {hint}" if hint else "")


def _arguments(input_json: str) -> str:
    """Shortens the arguments of a call to one line, such as `(query="governing law")`."""
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


class Screen:
    """Carries out steps on a console.

    It keeps account of where the cursor is, so that notes begin a line of their own and text that is taken back is
    wiped from the terminal.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._redraws = console.is_terminal and not console.is_dumb_terminal
        self._busy = False
        self._line = ""
        self._since_note = ""

    def show(self, step: Step) -> None:
        self._clear_busy()
        match step:
            case Write(text):
                self._write(text)
            case Withdraw(text, reason):
                self._withdraw(text, reason)
            case Busy(text) if self._redraws:
                self.end_line()
                self._console.print(
                    f"  {text}", style="dim", end="", overflow="ellipsis", no_wrap=True, soft_wrap=False
                )
                self._busy = True
            case Note(text):
                self._note(f"  {text}")
            case Footnote(text):
                self._note(text)

    def end_line(self) -> None:
        """Brings the cursor to the start of a line."""
        if self._line:
            self._raw("\n")
            self._line = ""
            self._since_note += "\n"

    def prompt(self, text: str) -> None:
        """Shows a question and leaves the cursor behind it. What is shown next begins a line of its own."""
        self._clear_busy()
        self.end_line()
        self._raw(text)
        self._line, self._since_note = text, ""

    def answered(self) -> None:
        """Notes that the person has ended the line of the question with Enter."""
        self._line = ""

    def close(self) -> None:
        self._clear_busy()
        self.end_line()

    def _write(self, text: str) -> None:
        self._raw(text)
        self._since_note += text
        self._line = (self._line + text).rpartition("\n")[2]

    def _withdraw(self, text: str, reason: str) -> None:
        if self._redraws and self._since_note.endswith(text) and self._rows(text) < self._console.height:
            self._raw("\x1b[A" * (self._rows(text) - 1) + "\r\x1b[J")
            self._line = self._since_note = ""
        else:
            self._note(f"  [the text above is withdrawn: {reason}]")

    def _note(self, text: str) -> None:
        self.end_line()
        self._console.print(text, style="dim")
        self._since_note = ""

    def _rows(self, text: str) -> int:
        """Counts the rows of this terminal from the one in which the text begins to the one of the cursor."""
        width = max(1, self._console.width)
        return sum(max(1, -(-cell_len(line) // width)) for line in text.split("\n"))

    def _clear_busy(self) -> None:
        if self._busy:
            self._raw(CLEAR_LINE)
            self._busy = False

    def _raw(self, text: str) -> None:
        self._console.file.write(text)
        self._console.file.flush()
