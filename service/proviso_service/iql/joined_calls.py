"""Calls joined by operators inside one pair of braces: `{IS termination clause or payment clause}`."""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from proviso_service.iql.call_parts import Call, Part
from proviso_service.iql.printing import template_in_braces
from proviso_service.iql.templates import TemplateCatalog

OPERATOR_WORDS = frozenset({"AND", "OR", "NOT"})


class JoinedCalls(NamedTuple):
    """`mended` is the query with each call in its own braces."""

    operator: Part
    mended: str


def is_operator_word(part: Part) -> bool:
    return part.text.upper() in OPERATOR_WORDS


def separated(parts: Sequence[Part], catalog: TemplateCatalog) -> JoinedCalls | None:
    """None when there is no operator among the parts, or a piece between operators is not a sound call, with or
    without its IS."""
    operator = next(filter(is_operator_word, parts), None)
    if operator is None or is_operator_word(parts[-1]):
        return None
    written: list[str] = []
    for operators, group in groupby(parts, is_operator_word):
        piece = list(group)
        text = _operators_between(piece, at_start=not written) if operators else _call_in_braces(piece, catalog)
        if not text:
            return None
        written.append(text)
    return JoinedCalls(operator, " ".join(written))


def _operators_between(piece: Sequence[Part], at_start: bool) -> str:
    """`NOT`s, after an AND or OR unless they stand at the start; empty when they stand in another order."""
    words = [part.text.upper() for part in piece]
    nots = words if at_start else words[1:]
    in_order = all(word == "NOT" for word in nots) and (at_start or words[0] != "NOT")
    return " ".join(words) if in_order else ""


def _call_in_braces(piece: Sequence[Part], catalog: TemplateCatalog) -> str:
    call = Call.of(piece[1:] if piece[0].text == "IS" else piece)
    definition = catalog.get(call.name_text)
    values = tuple(argument.value for argument in call.arguments)
    if definition is None or call.rest or len(values) != len(definition.arguments) or not all(values):
        return ""
    return template_in_braces(definition.name, values)
