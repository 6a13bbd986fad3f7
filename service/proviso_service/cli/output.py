"""What commands write: text for people, JSON lines for programs, and failures in one line.

Importing this module loads no other library, because every command imports it before it knows what it needs.
"""

import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


class CommandError(Exception):
    """A command failed. `message` is one clear line for the person who started it."""

    exit_code = 1

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class UsageProblem(CommandError):
    """A flag, an argument or a setting is wrong."""

    exit_code = 2


def console(*, stderr: bool = False) -> "Console":
    """Makes a console that prints text as it is: without markup, guessed highlights or line wrapping.

    Colours and control codes are written to terminals only: rich looks at the stream, at NO_COLOR and at TERM.
    """
    from rich.console import Console

    return Console(stderr=stderr, markup=False, highlight=False, soft_wrap=True, emoji=False)


def print_json(record: dict[str, Any]) -> None:
    """Writes one JSON line at once, so that a program that reads it sees it when it happens."""
    sys.stdout.write(json.dumps(record, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def printable(text: str) -> str:
    """Replaces the control characters by which a document could move a terminal's cursor or change its colours."""
    return "".join(c if c in "\n\t" or c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
