"""Carries out a transcript's steps on a console: redraws on a terminal, only ever appends elsewhere."""

from rich.cells import cell_len
from rich.console import Console

from proviso_service.cli.transcript import Busy, Footnote, Note, Step, Withdraw, Write

CLEAR_LINE = "\r\x1b[2K"


class Screen:
    """Where the cursor is matters: notes begin their own line, and withdrawn text is wiped where it stands."""

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
        """A question; the cursor stays behind it. Whatever is shown next begins its own line."""
        self._clear_busy()
        self.end_line()
        self._raw(text)
        self._line, self._since_note = text, ""

    def answered(self) -> None:
        """The person's Enter has ended the line of the question."""
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
        """Rows that a text takes on this terminal, from the row it begins in to the row of the cursor."""
        width = max(1, self._console.width)
        return sum(max(1, -(-cell_len(line) // width)) for line in text.split("\n"))

    def _clear_busy(self) -> None:
        if self._busy:
            self._raw(CLEAR_LINE)
            self._busy = False

    def _raw(self, text: str) -> None:
        self._console.file.write(text)
        self._console.file.flush()
