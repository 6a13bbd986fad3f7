"""A Markdown page of commands and what they print.

A command is a block of `sh`. What it prints is the block of `json` or `text` that follows with nothing between but,
where the output is shortened, a comment such as `<!-- cut: messages documents[0] -->` (see cuts.py). A command without
such a block prints nothing."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

_BLOCK = re.compile(r"^```(?P<language>\S*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_CUT = re.compile(r"\s*(?:<!-- cut: (?P<cuts>[^>]+) -->\n)?")


class PageError(Exception):
    """The page cannot be understood; the text says which line is meant."""


@dataclass(frozen=True)
class Example:
    """A command, and what it prints, shortened by `cuts`; None where it prints nothing."""

    line: int
    command: str
    output: str | None = None
    cuts: tuple[str, ...] = ()


Page = list[str | Example]
"""Prose as it is, and the examples between."""


def parse(text: str) -> Page:
    page: Page = []
    end = 0
    for block in _BLOCK.finditer(text):
        between, end = text[end : block.start()], block.end()
        line = text.count("\n", 0, block.start()) + 1
        body = block["body"].removesuffix("\n")
        if block["language"] == "sh":
            page += [between, Example(line, body)]
        elif block["language"] in ("json", "text"):
            page[-1:] = [_with_output(page, line, between, body)]
        else:
            raise PageError(f"line {line}: a block must be sh, json or text")
    if "```" in "".join(part for part in page if isinstance(part, str)) + text[end:]:
        raise PageError("a block is not closed")
    return [*page, text[end:]]


def render(page: Page) -> str:
    return "".join(part if isinstance(part, str) else _rendered(part) for part in page)


def examples(page: Page) -> list[Example]:
    return [part for part in page if isinstance(part, Example)]


def _with_output(page: Sequence[str | Example], line: int, between: str, output: str) -> Example:
    example = page[-1] if page else ""
    cut = _CUT.fullmatch(between)
    if not isinstance(example, Example) or example.output is not None or not cut:
        raise PageError(f"line {line}: what is printed must follow its command")
    return Example(example.line, example.command, output, tuple((cut["cuts"] or "").split()))


def _rendered(example: Example) -> str:
    command = f"```sh\n{example.command}\n```"
    if example.output is None:
        return command
    cuts = f"<!-- cut: {' '.join(example.cuts)} -->\n" if example.cuts else ""
    return f"{command}\n\n{cuts}```{_language(example.output)}\n{example.output}\n```"


def _language(output: str) -> str:
    """`json` for one value or a stream of them, each beginning on a line of its own."""
    values = re.split(r"\n(?=\{)", output)
    try:
        for value in values:
            json.loads(value)
    except ValueError:
        return "text"
    return "json"
