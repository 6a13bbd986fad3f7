"""What is left out of long outputs, always by the same rule, so that two runs leave out the same.

    messages         what the fields of this name hold; a text becomes "..."
    documents[0]     the elements of these lists but the first; `items[0,-1]` keeps the first and the last
    [-1]             the messages of a stream but the last
    Details          the details of an error

A line `...` stands where lines were."""

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
        yield from _kept_of(lines, "", kept)
        return
    if name == "Details":
        yield from lines[: _place(lines, _DETAILS) + 1]
        yield "  ..."
        return
    found = False
    rest = iter(lines)
    for line in rest:
        field = _FIELD.fullmatch(line)
        if not field or field["name"] != name:
            yield line
            continue
        found = True
        indent, value = field["indent"], field["value"]
        if value in _CLOSING:
            body, end = _body(rest, indent + _CLOSING[value])
            yield from [line, *_kept_of(body, indent + "  ", kept), end]
        elif value.startswith('"') and not kept:
            yield f'{indent}"{name}": "..."' + "," * value.endswith(",")
        else:
            raise CutError(f"cut {name}: {value} cannot be cut")
    if not found:
        raise CutError(f"cut {name}: there is no such field")


def _place(lines: list[str], wanted: str) -> int:
    if wanted not in lines:
        raise CutError(f"cut {wanted.strip(' :')}: there are none")
    return lines.index(wanted)


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
