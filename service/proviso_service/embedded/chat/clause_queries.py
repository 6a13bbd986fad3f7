"""Writes IQL queries for the questions that IQL answers: clauses of a kind, clauses that meet criteria, and which
document is more about a subject. Queries are built as syntax trees and printed, so that they are valid whatever the
question holds."""

import re
from dataclasses import dataclass
from functools import cache

from proviso_service.embedded.chat.phrases import pattern, table, words
from proviso_service.embedded.sentences import one_line
from proviso_service.iql import And, Expression, Not, Or, Statement, TemplateCatalog, canonical_text

_MAX_WORDS_CHARS = 200
_MAX_PARTY_WORDS = 4
_SIBILANT = ("s", "sh", "ch", "x", "z", "o")
# Kinds that modify others: "unilateral termination clauses" are unilateral, and they are about termination.
_MODIFIERS = ("unilateral", "one-sided")


@dataclass(frozen=True, slots=True)
class ClauseQuery:
    """An IQL query, valid unless a person has typed it. `compares` is true when the question asks which document scores
    higher; `subject` then says on what."""

    iql: str
    compares: bool = False
    subject: str = ""


def clause_query(question: str) -> ClauseQuery | None:
    """Returns the query that answers a question, from which the names of documents were taken out. Returns None when
    another tool answers it better."""
    line, place = one_line(question), pattern("place")
    if more := pattern("more_about").match(line):
        subject = _clean(place.sub("", more["subject"]))
        if not subject:
            return None
        kind = _kind(subject)
        about = Statement(f"This is about {subject}.") if isinstance(kind, Statement) else kind
        return ClauseQuery(canonical_text(about), compares=True, subject=subject)
    asked = pattern("criteria").match(place.sub("", line.rstrip(" ?.!")))
    if asked is None:
        return None
    rest = _clean(asked["rest"] or "")
    criterion = _criterion(rest)
    if rest and not criterion:
        return None
    parts = [*_kinds(asked["kinds"].strip()), *criterion]
    return ClauseQuery(canonical_text(And.of(parts) if len(parts) > 1 else parts[0])) if parts else None


def typed_query(message: str) -> ClauseQuery | None:
    """Returns the IQL query that a person has typed: alone, or after words that ask to run it. It may be faulty; the
    tool then says where."""
    line = message.strip().strip("`").strip()
    asked = pattern("run_query").match(line) if "{" in line else None
    return ClauseQuery(line[asked.end() :].strip(" `:\n")) if asked else None


def asks_for_types(question: str) -> bool:
    """Tells whether a question, from which the names of documents were taken out, asks which types of clauses there
    are, and nothing narrower."""
    asked = pattern("asks_types").match(one_line(question))
    return asked is not None and bool(pattern("place_of_types").fullmatch(asked["rest"] or asked["others"] or ""))


@cache
def _catalog() -> TemplateCatalog:
    return TemplateCatalog.load()


def _kinds(text: str) -> list[Expression]:
    """Reads the kinds in front of `clauses`. Kinds that are named one after another are alternatives; a modifier in
    front of them applies to all."""
    found: list[Expression] = []
    for modifier in _MODIFIERS:
        if re.match(rf"{modifier}\b", text, re.IGNORECASE):
            found.append(_kind(modifier))
            text = text[len(modifier) :].strip()
    named = map(_clean, pattern("between_kinds").split(text))
    kinds = list(dict.fromkeys(_kind(kind) for kind in named if kind))
    if kinds:
        found.append(Or.of(kinds) if len(kinds) > 1 else kinds[0])
    return found


def _kind(text: str) -> Expression:
    name = text.lower()
    catalog = _catalog()
    for candidate in (f"{name} clause", name):
        definition = catalog.get(candidate)
        if definition and not definition.arguments:
            return catalog.call(candidate)
    article = "an" if name[0] in "aeiou" else "a"
    return Statement(f"This is {article} {text} clause.")


def _criterion(rest: str) -> list[Expression]:
    """Reads what follows `clauses`. The list is empty when that is not understood as a criterion of clauses."""
    catalog = _catalog()
    if not rest:
        return []
    for predicate in ("obligating", "entitling"):
        found = pattern(predicate).match(rest)
        if found and len(found["party"].split()) <= _MAX_PARTY_WORDS and " to " not in found["party"]:
            return [catalog.call(f"clause {predicate}", found["party"].strip())]
    if found := pattern("called").match(rest):
        return [catalog.call("clause called", found["name"].strip())]
    if found := pattern("that").match(rest):
        if negated := pattern("negated_kind").match(found["said"]):
            return [Not(_kind(_clean(negated["kind"])))]
        return [catalog.call("clause that", _singular(found["said"].strip()))]
    is_participle = rest.split(maxsplit=1)[0].lower().endswith("ing") and not pattern("regarding").match(rest)
    return [catalog.call("clause that", f"is {rest}")] if is_participle else []


def _singular(said: str) -> str:
    """Puts a predicate into the singular: `limit liability` becomes `limits liability`."""
    verb, _, rest = said.partition(" ")
    lower = verb.lower()
    if lower in table("irregular_verbs"):
        verb = table("irregular_verbs")[lower]
    elif lower.endswith("y") and lower[-2:-1] not in "aeiou":
        verb = f"{verb[:-1]}ies"
    elif lower not in words("modals"):
        verb = f"{verb}es" if lower.endswith(_SIBILANT) else f"{verb}s"
    return f"{verb} {rest}".strip()


def _clean(text: str) -> str:
    """Takes off the marks around the words and cuts them to the length that a statement should have at most."""
    return text[:_MAX_WORDS_CHARS].strip(" ,;:?.!\"'\u201c\u201d\u2018\u2019")
