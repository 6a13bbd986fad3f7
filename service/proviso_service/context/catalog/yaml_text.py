"""YAML with the line of every value. Of YAML's features only those are read that an agent's folder needs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from proviso_service.context.catalog.yaml_syntax import syntax_words

Path = tuple[str | int, ...]

_STANDARD = "tag:yaml.org,2002:"
_TYPED = frozenset(_STANDARD + name for name in ("int", "float", "bool", "null"))
_TEXT = frozenset(_STANDARD + name for name in ("str", "timestamp", "value", "merge"))
_CONTAINERS = {yaml.MappingNode: _STANDARD + "map", yaml.SequenceNode: _STANDARD + "seq"}


@dataclass(frozen=True, slots=True)
class YamlFault:
    """`line` counts from 1; `path` is that of the value which is at fault, empty where the text is no YAML at all."""

    line: int
    path: Path
    description: str


@dataclass(frozen=True, slots=True)
class YamlText:
    """A document: mappings with text keys, lists, text, numbers, booleans and None; `lines` has the line of each value
    by its path, counted from 1. `value` is not to be used where there are `faults`."""

    value: Any
    lines: Mapping[Path, int]
    faults: tuple[YamlFault, ...] = ()

    def line_of(self, path: Path) -> int:
        """The line of a value, or else of the nearest one that holds it."""
        while path not in self.lines:
            path = path[:-1]
        return self.lines[path]


def read_yaml(text: str, first_line: int = 1) -> YamlText:
    """Reads one document; `first_line` is the number of the text's first line. Finds every fault of its contents, but
    only the first that keeps it from being YAML."""
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
        """Anchors are refused where they are used: what they repeat could grow without bound."""
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
        """Dates and the like are text."""
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
    """False for what an escape such as \\ud800 makes: no encoding has it."""
    return not any("\ud800" <= character <= "\udfff" for character in value)
