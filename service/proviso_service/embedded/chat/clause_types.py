"""Questions for the types of clauses that documents have, and their answers."""

import re

from proviso_service.embedded.chat.evidence import Classified, ClausesOfType
from proviso_service.embedded.chat.lexical import one_line
from proviso_service.embedded.chat.quoting import opening_of
from proviso_service.embedded.chat.rendering import bullets, counted, joined, name, not_analysed, place, quote

_CLAUSES = r"(?:clauses?|provisions?)"
_TYPES = r"(?:types?|kinds?|sorts?|categor(?:y|ies))"
_ASKED = re.compile(
    rf"^(?:please )?(?:(?:can|could) you )?(?:please )?(?:tell me |show me |give me |list |identify |name )?"
    rf"(?:(?:what|which|the|all|different|an? overview of) )*"
    rf"(?:{_TYPES} of {_CLAUSES}|{_CLAUSES} {_TYPES}|(?<=what )clauses|(?<=which )clauses|(?<=overview of the )clauses)"
    rf"\b(?P<rest>.*)$"
    rf"|^(?:please )?(?:classify|categori[sz]e) (?:(?:all|the) )*{_CLAUSES}\b(?P<others>.*)$",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"(?:\W|\b(?:are|is|was|do|does|did|can|could|have|has|had|contain|contains|include|includes|exist|exists|there|here"
    r"|you|we|i|it|they|find|found|see|present|used|the|this|that|these|those|our|my|all|any|each|every|in|of|from"
    r"|within|across|for|agreements?|contracts?|documents?|files?|matter|case|lease|nda)\b)*",
    re.IGNORECASE,
)


def asks_for_types(question: str) -> bool:
    """Whether a question without names of documents asks which types of clauses there are, and nothing narrower."""
    asked = _ASKED.match(one_line(question))
    return asked is not None and _PLACE.fullmatch(asked["rest"] or asked["others"] or "") is not None


def types_answer(found: Classified) -> str:
    """The types that were found, each with its counts and its surest clause in quotes; those that were not, by name."""
    return _found(found) + _absent(found) + not_analysed(found.document_errors)


def _found(found: Classified) -> str:
    if not found.total_found:
        return f"I found no clause of the {counted(found.types_searched, 'type')} that I looked for."
    shown = bullets(_line(one) for one in found.clause_types)
    more = found.types_found - len(found.clause_types)
    rest = f"\n- and {counted(more, 'more type')}" if more > 0 else ""
    return (
        f"I found clauses of {found.types_found} of the {found.types_searched} types that I looked for:\n{shown}{rest}"
    )


def _line(one: ClausesOfType) -> str:
    documents = f" in {counted(one.documents, 'document')}" if one.documents > 1 else ""
    head = f"{name(one.clause_type)} ({counted(one.clauses, 'clause')}{documents})"
    said = next((f": {place(passage)}: {quote(opening_of(passage), passage.ref)}" for passage in one.passages), "")
    return head + said


def _absent(found: Classified) -> str:
    if not (found.total_found and found.not_found):
        return ""
    more = found.types_searched - found.types_found - len(found.not_found)
    names = [name(one) for one in found.not_found] + ([f"{more} more"] if more > 0 else [])
    return f"\n\nNot found: {joined(names)}."
