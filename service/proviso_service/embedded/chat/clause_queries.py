"""Writes IQL queries for the questions that IQL answers: clauses of a kind, clauses that meet criteria, and which
document is more about a subject. Queries are built as syntax trees and printed, so that they are valid whatever the
question holds."""

import re
from dataclasses import dataclass
from functools import cache

from proviso_service.embedded.chat.phrases import pattern
from proviso_service.embedded.chat.text import one_line
from proviso_service.iql import And, Expression, Not, Or, Statement, TemplateCatalog, canonical_text

_MAX_WORDS_CHARS = 200
_CRITERIA = pattern("criteria")
_MORE_ABOUT = pattern("more_about")
_PLACE = pattern("place")
_OBLIGATING = pattern("obligating")
_ENTITLING = pattern("entitling")
_CALLED = pattern("called")
_ABOUT = pattern("regarding")
_THAT = pattern("that")
_NEGATED_KIND = pattern("negated_kind")
_MAX_PARTY_WORDS = 4
_BETWEEN_KINDS = pattern("between_kinds")
_MODALS = frozenset({"can", "cannot", "could", "may", "might", "must", "shall", "should", "will", "would"})
_IRREGULAR = {"are": "is", "have": "has", "do": "does", "don't": "does not", "aren't": "is not"}
_SIBILANT = ("s", "sh", "ch", "x", "z", "o")

_TYPED = re.compile(r"\{")
_QUERY_ALONE = re.compile(r"(?:NOT\b\s*)?[({]")
_RUN = pattern("run_query")

_ASKS_TYPES = pattern("asks_types")
_TYPES_PLACE = pattern("place_of_types")

# Kinds that modify others: "unilateral termination clauses" are unilateral, and they are about termination.
_MODIFIERS = ("unilateral", "one-sided")


@dataclass(frozen=True, slots=True)
class ClauseQuery:
    """An IQL query, valid unless a person has typed it. `compares` is true when the question asks which document scores
    higher; `subject` then says on what. `skip` is how many matches the person has seen."""

    iql: str
    skip: int = 0
    compares: bool = False
    subject: str = ""


def clause_query(question: str) -> ClauseQuery | None:
    """Returns the query that answers a question, from which the names of documents were taken out. Returns None when
    another tool answers it better."""
    line = one_line(question)
    if more := _MORE_ABOUT.match(line):
        subject = _clean(_PLACE.sub("", more["subject"]))
        return ClauseQuery(canonical_text(_about(subject)), compares=True, subject=subject) if subject else None
    asked = _CRITERIA.match(_PLACE.sub("", line.rstrip(" ?.!")))
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
    if not _TYPED.search(line):
        return None
    asked = _RUN.match(line)
    query = line[asked.end() :] if asked else line
    return ClauseQuery(query.strip(" `:\n")) if asked or _QUERY_ALONE.match(line) else None


def asks_for_types(question: str) -> bool:
    """Tells whether a question, from which the names of documents were taken out, asks which types of clauses there
    are, and nothing narrower."""
    asked = _ASKS_TYPES.match(one_line(question))
    return asked is not None and _TYPES_PLACE.fullmatch(asked["rest"] or asked["others"] or "") is not None


@cache
def _catalog() -> TemplateCatalog:
    return TemplateCatalog.load()


def _kinds(words: str) -> list[Expression]:
    """Reads the kinds in front of `clauses`. Kinds that are named one after another are alternatives; a modifier in
    front of them applies to all."""
    found: list[Expression] = []
    for modifier in _MODIFIERS:
        if re.match(rf"{modifier}\b", words, re.IGNORECASE):
            found.append(_kind(modifier))
            words = words[len(modifier) :].strip()
    kinds = list(dict.fromkeys(_kind(_clean(kind)) for kind in _BETWEEN_KINDS.split(words) if _clean(kind)))
    if kinds:
        found.append(Or.of(kinds) if len(kinds) > 1 else kinds[0])
    return found


def _kind(words: str) -> Expression:
    name = words.lower()
    catalog = _catalog()
    for candidate in (f"{name} clause", name):
        definition = catalog.get(candidate)
        if definition and not definition.arguments:
            return catalog.call(candidate)
    article = "an" if name[0] in "aeiou" else "a"
    return Statement(f"This is {article} {words} clause.")


def _criterion(rest: str) -> list[Expression]:
    """Reads what follows `clauses`. The list is empty when that is not understood as a criterion of clauses."""
    catalog = _catalog()
    if not rest:
        return []
    for predicate, template in ((_OBLIGATING, "clause obligating"), (_ENTITLING, "clause entitling")):
        found = predicate.match(rest)
        if found and len(found["party"].split()) <= _MAX_PARTY_WORDS and " to " not in found["party"]:
            return [catalog.call(template, found["party"].strip())]
    if found := _CALLED.match(rest):
        return [catalog.call("clause called", found["name"].strip())]
    if found := _THAT.match(rest):
        if negated := _NEGATED_KIND.match(found["said"]):
            return [Not(_kind(_clean(negated["kind"])))]
        return [catalog.call("clause that", _singular(found["said"].strip()))]
    is_participle = rest.split(maxsplit=1)[0].lower().endswith("ing") and not _ABOUT.match(rest)
    return [catalog.call("clause that", f"is {rest}")] if is_participle else []


def _about(subject: str) -> Expression:
    kind = _kind(subject)
    return Statement(f"This is about {subject}.") if isinstance(kind, Statement) else kind


def _singular(said: str) -> str:
    """Puts a predicate into the singular: `limit liability` becomes `limits liability`."""
    verb, _, rest = said.partition(" ")
    return f"{_third_person(verb)} {rest}".strip()


def _third_person(verb: str) -> str:
    lower = verb.lower()
    if lower in _MODALS:
        return verb
    if lower in _IRREGULAR:
        return _IRREGULAR[lower]
    if lower.endswith("y") and lower[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}es" if lower.endswith(_SIBILANT) else f"{verb}s"


def _clean(words: str) -> str:
    """Takes off the marks around the words and cuts them to the length that a statement should have at most."""
    return words[:_MAX_WORDS_CHARS].strip(" ,;:?.!\"'\u201c\u201d\u2018\u2019")
