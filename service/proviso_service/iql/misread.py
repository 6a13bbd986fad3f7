"""Warns of words in a valid query that read like a template or an operator and are neither."""

import re
from collections.abc import Iterator

from proviso_service.iql.call_parts import TemplateCall, parts_of
from proviso_service.iql.problems import quoted
from proviso_service.iql.syntax import Expression, Statement, leaves, statement_in_braces, template_in_braces
from proviso_service.iql.templates import TemplateCatalog, normalised

_CALL = re.compile(r"is\s+(?!(?:this|that|it|there|the|an?|any)\b)(?P<call>.+)", re.IGNORECASE | re.DOTALL)
_LITERAL_IS = re.compile(r"IS\s")
# Signs and words in any case count between calls of templates, and only these between other words.
_ANY_OPERATOR = re.compile(r"\s+((?:and|or|&&|\|\|)(?:\s+not)?|[+<>])\s+", re.IGNORECASE)
_PLAIN_OPERATOR = re.compile(r"\s+((?:AND|OR|&&|\|\|)(?:\s+NOT)?)\s+")
_NOT = re.compile(r"not\s+(?!not\s)", re.IGNORECASE)
_INSTEAD = {"&&": "AND", "||": "OR"}
_LOWER_CASE = re.compile("[a-z]")


def misreadings(tree: Expression, catalog: TemplateCatalog) -> Iterator[str]:
    """Yields a note for each statement in words that was probably meant otherwise: how it is read, and what to write
    instead."""
    for leaf in leaves(tree):
        if not isinstance(leaf, Statement) or _LITERAL_IS.match(leaf.text):
            continue
        if calls := (
            _as_call(leaf.text, catalog)
            or _joined(leaf.text, _ANY_OPERATOR, catalog, calls_only=True)
            or _nearly_a_call(leaf.text, catalog)
        ):
            yield f"{quoted(leaf.text)} is read as a statement in words. For templates, write {calls}"
        # In a statement all in capitals operators are words like the others.
        elif _LOWER_CASE.search(leaf.text) and (parts := _joined(leaf.text, _PLAIN_OPERATOR, catalog)):
            yield (
                f"{quoted(leaf.text)} is read as one statement in words: operators stand between statements in braces."
                f" For several statements, write {parts}"
            )


def _joined(text: str, operators: re.Pattern[str], catalog: TemplateCatalog, *, calls_only: bool = False) -> str:
    """Returns the query that has the words between the operators as statements; empty where there is no operator, or
    where something else than a call stands between them and only calls count."""
    negated = _NOT.match(text) if calls_only or text.startswith("NOT ") else None
    pieces = operators.split(text[negated.end() :] if negated else text)
    if len(pieces) == 1 and not negated:
        return ""
    written = ["NOT"] if negated else []
    for index, piece in enumerate(pieces):
        if index % 2:
            written += (_INSTEAD.get(word, word.upper()) for word in piece.split())
        else:
            call = _as_call(piece, catalog)
            if calls_only and not call:
                return ""
            written.append(call or statement_in_braces(piece))
    return " ".join(written)


def _as_call(text: str, catalog: TemplateCatalog) -> str:
    """Returns the call of a template that the words would be with IS in capitals; empty where they are none."""
    said = _CALL.fullmatch(text)
    words = said["call"] if said else text
    if said and (negated := _NOT.match(words)):
        return _negated(_as_call(f"is {words[negated.end() :]}", catalog))
    call = TemplateCall.of(parts_of(words, 0, len(words)))
    definition = catalog.get(call.name_text)
    values = tuple(argument.value for argument in call.arguments)
    if definition is None or call.rest or len(values) != len(definition.arguments) or not all(values):
        return ""
    # An alias alone, such as "venue", may be just a word.
    is_call = said or values or normalised(words) == definition.name or words.lower().endswith(" clause")
    return template_in_braces(definition.name, values) if is_call else ""


def _nearly_a_call(text: str, catalog: TemplateCatalog) -> str:
    """Returns the call that words behind "is" were probably meant to be: the name may have a slip of the pen, and the
    quotes of the argument may be missing. Empty where there is none like it."""
    said = _CALL.fullmatch(text)
    if said is None or _ANY_OPERATOR.search(text):
        return ""
    words = said["call"]
    if negated := _NOT.match(words):
        return _negated(_nearly_a_call(f"is {words[negated.end() :]}", catalog))
    parts = parts_of(words, 0, len(words))
    if prefix := catalog.longest_prefix([part.text for part in parts]):
        definition, count = prefix
        rest = words[parts[count].start :].strip(" \"'\u201c\u201d") if len(parts) > count else ""
        return template_in_braces(definition.name, (rest,)) if rest and len(definition.arguments) == 1 else ""
    near = catalog.nearest(words, 1) if words.lower().endswith(" clause") else ()
    return near[0].signature if near else ""


def _negated(call: str) -> str:
    return call and f"NOT {call}"
