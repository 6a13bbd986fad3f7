"""Reads YAML with the line of every value, and Markdown files that begin with fields in YAML. Only those features of
YAML are read that an agent's folder needs.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

_CLOSING = "it has a bracket that is not closed, or lacks a comma before this line"

SENTENCES: Mapping[str, str] = {
    "found character '\\t'": "it begins with a tab; use spaces",
    "found character": "it has a value that begins with one of @ ` %; put it between quotation marks",
    "mapping values": "it has a colon too many, or is indented too far; put text with a colon between quotation marks",
    "could not find expected ':'": "it lacks the colon after the name of a field",
    "sequence entries": "it has a list that begins behind a colon; put each entry on a line of its own",
    "expected <block end>": "it is not indented like the lines above it, or goes on after a closed value",
    "expected ',' or ']'": _CLOSING,
    "expected ',' or '}'": _CLOSING,
    "found unexpected end of stream": "it has a quotation mark that is not closed",
    "found unexpected document separator": "it has a quotation mark that is not closed",
    "found unknown escape character": "it has a backslash in double quotation marks; use single ones",
    "expected escape sequence": "it has a backslash in double quotation marks; use single ones",
    "found undefined alias": "it has a value that begins with *; put it between quotation marks",
    "but found another document": "it begins a second document; a file holds one",
}
"""What a person is told, by the beginning of the parser's own message. That one is not shown: it speaks of tokens, and
can repeat a value."""

OTHERWISE = "look for a wrong indentation, colon, bracket or quotation mark, here or above"


def syntax_words(error: yaml.MarkedYAMLError) -> str:
    """What is wrong with the line at which a text stops being YAML."""
    problem = error.problem or ""
    words = next((words for beginning, words in SENTENCES.items() if problem.startswith(beginning)), OTHERWISE)
    return f"is not YAML: {words}"


Path = tuple[str | int, ...]

_STANDARD = "tag:yaml.org,2002:"
_TYPED = frozenset(_STANDARD + name for name in ("int", "float", "bool", "null"))
_TEXT = frozenset(_STANDARD + name for name in ("str", "timestamp", "value", "merge"))
_CONTAINERS = {yaml.MappingNode: _STANDARD + "map", yaml.SequenceNode: _STANDARD + "seq"}


@dataclass(frozen=True, slots=True)
class YamlFault:
    """Something that is wrong with a YAML text. `line` counts from 1. `path` leads to the value that is at fault, and
    is empty where the text is not YAML at all."""

    line: int
    path: Path
    description: str


@dataclass(frozen=True, slots=True)
class YamlText:
    """A YAML document: mappings with text keys, lists, text, numbers, booleans and None.

    `lines` has the line of each value by the value's path, counted from 1. `value` must not be used where there are
    `faults`."""

    value: Any
    lines: Mapping[Path, int]
    faults: tuple[YamlFault, ...] = ()

    def line_of(self, path: Path) -> int:
        """The line of a value, or of the nearest value around it that has one."""
        while path not in self.lines:
            path = path[:-1]
        return self.lines[path]


def read_yaml(text: str, first_line: int = 1) -> YamlText:
    """Reads one document. `first_line` is the number of the text's first line in its file. Every fault of the contents
    is found, but only the first one that keeps the text from being YAML."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line if error.problem_mark else 0
        return _broken(first_line + line, syntax_words(error))
    except yaml.reader.ReaderError as error:
        return _broken(first_line + text.count("\n", 0, error.position), "holds a character that YAML does not allow")
    except RecursionError:
        return _broken(first_line, "is nested too deeply")
    if node is None:
        return YamlText({}, {(): first_line})
    reading = _Reading(first_line)
    reading.lines[()] = first_line
    value = reading.value(node, ())
    return YamlText(value, reading.lines, tuple(reading.faults))


def _broken(line: int, description: str) -> YamlText:
    return YamlText({}, {(): line}, (YamlFault(line, (), description),))


class _Reading:
    def __init__(self, first_line: int) -> None:
        self.lines: dict[Path, int] = {}
        self.faults: list[YamlFault] = []
        self._first_line = first_line
        self._seen: set[int] = set()
        self._scalars = yaml.constructor.SafeConstructor()

    def value(self, node: Any, path: Path) -> Any:
        """The value of a node. A value that is repeated by an anchor is refused, because repetitions can grow without
        bound."""
        if id(node) in self._seen:
            return self._fault(node, path, "repeats another value by *; write it out")
        self._seen.add(id(node))
        if type(node) in _CONTAINERS and node.tag != _CONTAINERS[type(node)]:
            return self._fault(node, path, "has a tag, which is not read")
        if isinstance(node, yaml.MappingNode):
            return dict(self._entries(node, path))
        if isinstance(node, yaml.SequenceNode):
            return [self._placed(item, (*path, index)) for index, item in enumerate(node.value)]
        return self._scalar(node, path)

    def _entries(self, node: Any, path: Path) -> Iterator[tuple[str, Any]]:
        names: set[str] = set()
        for key, held in node.value:
            if not isinstance(key, yaml.ScalarNode) or not _is_text(key.value):
                self._fault(key, path, "has a key that is not text")
            elif key.value in names:
                self._fault(key, (*path, key.value), "is there twice")
            else:
                names.add(key.value)
                self.lines[*path, key.value] = self._line(key)
                yield key.value, self.value(held, (*path, key.value))

    def _placed(self, node: Any, path: Path) -> Any:
        self.lines[path] = self._line(node)
        return self.value(node, path)

    def _scalar(self, node: Any, path: Path) -> Any:
        """The value of a node that is neither a mapping nor a list. Dates and the like stay text."""
        if not _is_text(node.value):
            return self._fault(node, path, "holds half of a character")
        if node.tag in _TEXT:
            return node.value
        if node.tag not in _TYPED:
            return self._fault(node, path, "has a tag, which is not read")
        try:
            return self._scalars.construct_object(node)
        except (ValueError, KeyError, yaml.YAMLError):
            return self._fault(node, path, "is not a number")

    def _fault(self, node: Any, path: Path, description: str) -> None:
        self.faults.append(YamlFault(self._line(node), path, description))

    def _line(self, node: Any) -> int:
        return int(self._first_line + node.start_mark.line)


def _is_text(value: str) -> bool:
    """Whether UTF-8 can encode the value. It cannot encode half of a surrogate pair, such as the escape \\ud800."""
    return not any("\ud800" <= character <= "\udfff" for character in value)


_FENCE = "---"
_MAX_FIELDS_CHARS = 16_384
"""More characters of fields are not read, because YAML is slow to read."""


@dataclass(frozen=True, slots=True)
class MarkdownFile:
    """A Markdown file that begins with fields between two lines of three hyphens. `fields` is None where it does not,
    or where the fields are far too long. `body` is the text after the fields, without blank lines around it."""

    fields: YamlText | None
    body: str


def read_markdown(text: str) -> MarkdownFile:
    """Splits a Markdown file into its fields and its text."""
    lines = text.replace("\r\n", "\n").split("\n")
    ends = [number for number, line in enumerate(lines) if line.rstrip() == _FENCE][:2]
    if len(ends) < 2 or ends[0] != 0:
        return MarkdownFile(None, text.strip())
    fields = "\n".join(lines[1 : ends[1]])
    if len(fields) > _MAX_FIELDS_CHARS:
        return MarkdownFile(None, text.strip())
    return MarkdownFile(read_yaml(fields, first_line=2), "\n".join(lines[ends[1] + 1 :]).strip())
