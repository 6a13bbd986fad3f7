"""Consoles. Colour and control codes appear on terminals only (rich looks at the stream, NO_COLOR and TERM)."""

import sys
from typing import Any

from rich.console import Console


def console(*, stderr: bool = False) -> Console:
    """A console that prints text as it is: no markup, no guessing of highlights, no wrapping of its own."""
    return Console(stderr=stderr, markup=False, highlight=False, soft_wrap=True, emoji=False)


def print_json(record: dict[str, Any]) -> None:
    """One JSON line, at once, so that a reading program sees it when it happens."""
    import json

    sys.stdout.write(json.dumps(record, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def printable(text: str) -> str:
    """Text without the control characters by which a document could move a terminal's cursor or recolour it."""
    return "".join(c if c in "\n\t" or c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
