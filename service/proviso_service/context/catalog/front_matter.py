"""Markdown files that begin with fields between two lines of three hyphens."""

from dataclasses import dataclass

from proviso_service.context.catalog.yaml_text import YamlText, read_yaml

_FENCE = "---"
_MAX_FIELDS_CHARS = 16_384
"""Reading YAML takes its time."""


@dataclass(frozen=True, slots=True)
class MarkdownFile:
    """`fields` is None where the file does not begin with any, or with far too many; `body` is the text after them,
    without blank lines around it."""

    fields: YamlText | None
    body: str


def read_markdown(text: str) -> MarkdownFile:
    lines = text.replace("\r\n", "\n").split("\n")
    ends = [number for number, line in enumerate(lines) if line.rstrip() == _FENCE][:2]
    if len(ends) < 2 or ends[0] != 0:
        return MarkdownFile(None, text.strip())
    fields = "\n".join(lines[1 : ends[1]])
    if len(fields) > _MAX_FIELDS_CHARS:
        return MarkdownFile(None, text.strip())
    return MarkdownFile(read_yaml(fields, first_line=2), "\n".join(lines[ends[1] + 1 :]).strip())
