"""What the typed result of one of the service's own tools tells: names, short texts and counts."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

_MAX_FACTS_CHARS = 20_000
_MAX_LABEL_CHARS = 300


def facts_of(data: Mapping[str, Any]) -> str:
    """The names and short texts of a typed result, one on each line. Passages are left out: they are sources of their
    own."""
    lines: list[str] = []
    size = 0
    for key, value in _scalars(data):
        if isinstance(value, str) and (len(value) > _MAX_LABEL_CHARS or key in _PASSAGE_FIELDS | _ECHOED_FIELDS):
            continue
        line = f"{key.replace('_', ' ')}: {value}"
        size += len(line)
        if size > _MAX_FACTS_CHARS:
            break
        lines.append(line)
    return "\n".join(lines)


_ECHOED_FIELDS = frozenset({"query", "question", "statement", "statements", "canonical", "iql", "tree_json"})
"""What the model has asked comes back in these fields. Its own words are no source."""

_COUNT_FIELD = re.compile(
    r"count|total|match|found|ready|process|failed|passages|clauses|types|documents|pages|searched"
)
_PASSAGE_FIELDS = frozenset(
    {"text", "chunk_text", "text_excerpt", "quote", "answer", "context_before", "context_after", "snippet"}
)


def _scalars(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _scalars(inner, str(name))
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _scalars(inner, key)
    elif value is not None and not isinstance(value, bool):
        yield key, value


def counts_of(data: Any, key: str = "") -> set[int]:
    """The counts of a typed result and the lengths of its lists, of which an answer may speak."""
    found: set[int] = set()
    if isinstance(data, Mapping):
        for name, inner in data.items():
            found |= counts_of(inner, str(name))
    elif isinstance(data, (list, tuple)):
        found.add(len(data))
        found |= set(_named_alike(data).values())
        for inner in data:
            found |= counts_of(inner, key)
    elif isinstance(data, int) and not isinstance(data, bool) and _COUNT_FIELD.search(key):
        found.add(data)
    return found


def _named_alike(items: Collection[Any]) -> Counter[str]:
    """In how many file names of listed documents each word stands that was asked for."""
    documents = [one for one in items if isinstance(one, Mapping) and "holds" in one and "filename" in one]
    return Counter(word for one in documents for word in one["holds"] if word in one["filename"].lower())
