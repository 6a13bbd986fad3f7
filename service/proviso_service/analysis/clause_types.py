"""Types of clauses, and the statements that passages are judged by to find them."""

import re
from collections.abc import Sequence

from proviso_service.errors import FieldViolation, InvalidRequest
from proviso_service.iql import IqlSyntaxError, Statement, Template, TemplateCatalog, parse

_DEFAULTS = {
    "Termination": "{IS termination clause}",
    "Indemnity": "{IS indemnity clause}",
    "Limitation of Liability": "{IS liability limitation clause}",
    "Confidentiality": "{IS confidentiality clause}",
    "Non-Compete": "{IS non-compete clause}",
    "Force Majeure": "{This is a force majeure clause: it excuses a party from performance when an event beyond its "
    "reasonable control prevents it.}",
    "Dispute Resolution": "{This is a dispute resolution clause: it says how or where disputes are resolved, such as "
    "by negotiation, mediation, arbitration or in court.}",
    "Governing Law": "{IS governing law clause}",
    "Assignment": "{This is an assignment clause: it says whether a party may assign or transfer the contract or its "
    "rights.}",
    "Warranty": "{IS representation or warranty clause}",
    "Payment Terms": "{IS payment clause}",
    "Intellectual Property": "{IS ip assignment or license}",
    "Insurance": "{This is an insurance clause: it requires a party to have insurance.}",
    "Notice": "{This is a notice clause: it specifies how notices under the contract must be given.}",
    "Amendment": "{This is an amendment clause: it says how the contract may be amended or modified.}",
}
"""In the query language: what a template asks for has its scores in common with queries."""

DEFAULT_CLAUSE_TYPES = tuple(_DEFAULTS)

_BY_KEY = {name.casefold(): query for name, query in _DEFAULTS.items()}
_KIND = re.compile(r"\s+(?:clauses?|provisions?)$", re.IGNORECASE)
_IS_SENTENCE = re.compile(r"this\s.+|.+\s.+[.!?]", re.IGNORECASE | re.DOTALL)


class ClauseTypes:
    """Puts types into statements, in the language's words where it has a template for them."""

    def __init__(self, catalog: TemplateCatalog) -> None:
        self._catalog = catalog

    def statements(self, clause_types: Sequence[str]) -> dict[str, str]:
        """By type, each once, in order; the default types for none. A type is a name ("Audit rights"), a sentence, or a
        statement of the query language in braces. Raises InvalidRequest that names every type that is none of these."""
        found: dict[str, str] = {}
        violations: list[FieldViolation] = []
        for index, given in enumerate(clause_types or DEFAULT_CLAUSE_TYPES):
            name = " ".join(given.split())
            try:
                found[name] = self._statement(name)
            except ValueError as error:
                violations.append(FieldViolation(f"clause_types[{index}]", str(error)))
        if violations:
            raise InvalidRequest(violations)
        return found

    def _statement(self, name: str) -> str:
        if not name:
            raise ValueError("must not be blank")
        if "{" in name or "}" in name:
            return self._in_braces(name)
        if _IS_SENTENCE.fullmatch(name):
            return name
        bare = _KIND.sub("", name)
        if query := _BY_KEY.get(bare.casefold()):
            return self._in_braces(query)
        return self._template(name) or self._template(f"{bare} clause") or f"This is a clause about {_spoken(bare)}."

    def _template(self, name: str) -> str:
        """Its statement; empty where there is none of this name, or one that needs arguments."""
        definition = self._catalog.get(name)
        return definition.statement if definition and not definition.arguments else ""

    def _in_braces(self, text: str) -> str:
        try:
            tree = parse(text, self._catalog)
        except IqlSyntaxError as error:
            raise ValueError(error.details) from error
        match tree:
            case Statement() | Template():
                return tree.text
        raise ValueError("must be one statement, without operators")


def _spoken(name: str) -> str:
    """Titles in lower case, but for abbreviations: "IP ownership"."""
    return " ".join(word.lower() if word[1:] == word[1:].lower() else word for word in name.split())
