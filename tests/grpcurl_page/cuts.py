"""What is left out of long outputs, always by the same rule, so that two runs leave out the same.

    messages         what all fields of this name hold: a list becomes [...], a message {...}, a text "..."
    items[0,-1]      of all lists of this name all elements but those at these places, here the first and the last
    [-1]             of a stream all messages but those at these places
    Details          the details of an error

A line `...` stands where elements or messages were."""

import re
from collections.abc import Iterator, Sequence

_CUT = re.compile(r"(?P<name>\w*)(?:\[(?P<kept>-?\d+(?:,-?\d+)*)\])?")
_FIELD = re.compile(r'(?P<indent> *)"(?P<name>\w+)": (?P<value>.*)')
_CLOSING = {"{": "}", "[": "]"}
_DETAILS = "  Details:"


class CutError(Exception):
    """A cut is not understood, or there is nothing that it could be applied to."""


def shortened(output: str, cuts: Sequence[str]) -> str:
    lines = output.splitlines()
    for cut in cuts:
        match = _CUT.fullmatch(cut)
        if not match:
            raise CutError(f"cut {cut}: must be a name, or a list's name and the places of the elements it keeps")
        kept = tuple(int(place) for place in match["kept"].split(",")) if match["kept"] else ()
        lines = list(_shortened(lines, match["name"], kept))
    return "\n".join(lines)


def elements(lines: Sequence[str], indent: str) -> list[list[str]]:
    """The elements of a list or a stream: each begins with a line at `indent` that closes nothing."""
    found: list[list[str]] = []
    for line in lines:
        if not found or re.match(rf"{indent}[^ \]}}]", line):
            found.append([])
        found[-1].append(line)
    return found


def _shortened(lines: list[str], name: str, kept: tuple[int, ...]) -> Iterator[str]:
    if not name:
        return _kept_of(lines, "", kept)
    if name == "Details":
        return _without_details(lines)
    if not any(_field(line, name) for line in lines):
        raise CutError(f"cut {name}: there is no such field")
    return _fields_shortened(iter(lines), name, kept)


def _without_details(lines: list[str]) -> Iterator[str]:
    if _DETAILS not in lines:
        raise CutError("cut Details: there are none")
    yield from lines[: lines.index(_DETAILS) + 1]
    yield "  ..."


def _fields_shortened(lines: Iterator[str], name: str, kept: tuple[int, ...]) -> Iterator[str]:
    for line in lines:
        field = _field(line, name)
        if not field:
            yield line
            continue
        indent, value = field["indent"], field["value"]
        if value in _CLOSING:
            body, end = _body(lines, indent + _CLOSING[value])
            yield from [line, *_kept_of(body, indent + "  ", kept), end] if kept else [f"{line}...{end.strip()}"]
        elif value.startswith('"') and not kept:
            yield f'{indent}"{name}": "..."' + "," * value.endswith(",")
        else:
            raise CutError(f"cut {name}: {value} cannot be cut")


def _field(line: str, name: str) -> re.Match[str] | None:
    match = _FIELD.fullmatch(line)
    return match if match and match["name"] == name else None


def _body(rest: Iterator[str], closing: str) -> tuple[list[str], str]:
    """The lines up to the one that closes what was opened, and that line."""
    body: list[str] = []
    for line in rest:
        if line.rstrip(",") == closing:
            return body, line
        body.append(line)
    raise CutError("the output ends in the middle of a value")


def _kept_of(lines: list[str], indent: str, kept: tuple[int, ...]) -> Iterator[str]:
    """The elements at `kept`; a line `...` for each run of others."""
    found = elements(lines, indent)
    places = {place % len(found) for place in kept if -len(found) <= place < len(found)}
    leaving_out = False
    for place, element in enumerate(found):
        if place in places:
            yield from element
        elif not leaving_out:
            yield f"{indent}..."
        leaving_out = place not in places
