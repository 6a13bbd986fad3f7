"""Reading what stands in one pair of braces: a statement in words, or the call of a template.

White space around a statement or an argument does not count; within one it is kept, but for template names, where it
only separates words. A statement is a call when it begins with `IS` in capitals and white space: `Is there a cap?` is
plain words, and so is `\\IS ...`. Words that are nothing but template calls joined by operators, such as
`{NOT IS clause}`, could be taken literally, but nobody means them so; they are reported."""

import re

from proviso_service.iql import call_faults
from proviso_service.iql.call_parts import TemplateCall, parts_of, separated
from proviso_service.iql.problems import ProblemKind, ProblemLog, replacing
from proviso_service.iql.syntax import QuerySpan, Statement, Template
from proviso_service.iql.templates import TemplateCatalog, TemplateDefinition

_CALL = re.compile(r"IS(?:\s+|$)")
_CALL_INSIDE = re.compile(r"\sIS\s")
_LITERAL_IS = re.compile(r"\\(?=IS(?:\s|$))")
_ESCAPE_IN_STATEMENT = re.compile(r"\\([\\{}])")


def read_statement(
    query: str, span: QuerySpan, catalog: TemplateCatalog, log: ProblemLog
) -> Statement | Template | None:
    """Reads what `span` encloses: in braces or, for a query that is one bare statement, without them. Returns None when
    it has a fault, which is logged."""
    start, end = _words_within(query, span)
    words = query[start:end]
    if not words:
        log.add(
            ProblemKind.EMPTY_STATEMENT,
            span,
            "nothing between the braces",
            "a statement in words or a template",
            replacing("Write for example", span, "{IS confidentiality clause}", "{This clause limits liability.}"),
        )
        return None
    if call := _CALL.match(words):
        return read_call(query, span, start + call.end(), end, catalog, log)
    if _CALL_INSIDE.search(words) and (joined_calls := separated(parts_of(query, start, end), catalog)):
        call_faults.log_operator_inside(query, span, joined_calls, log)
        return None
    text = words[1:] if _LITERAL_IS.match(words) else words
    return Statement(_ESCAPE_IN_STATEMENT.sub(r"\1", text), span=span)


def _words_within(query: str, span: QuerySpan) -> tuple[int, int]:
    """Returns where the words begin and end, without braces and the white space around them."""
    braces = 1 if query[span.start] == "{" else 0
    inside = query[span.start + braces : span.end - braces]
    start = span.start + braces + len(inside) - len(inside.lstrip())
    return start, start + len(inside.strip())


def read_call(
    query: str, span: QuerySpan, start: int, end: int, catalog: TemplateCatalog, log: ProblemLog
) -> Template | None:
    """Reads the call whose name and arguments stand between `start` and `end`. Returns None when it has a fault, which
    is logged."""
    parts = parts_of(query, start, end)
    if not parts:
        call_faults.log_missing_name(span, log)
        return None
    if unclosed := next((part for part in parts if part.opens_a_quote), None):
        call_faults.log_unclosed_quote(query, unclosed, end, log)
        return None
    call = TemplateCall.of(parts)
    definition = catalog.get(call.name_text)
    if definition and not call.rest:
        return _filled(definition, call, span, catalog, log)
    if joined_calls := separated(parts, catalog):
        call_faults.log_operator_inside(query, span, joined_calls, log)
    elif definition:
        call_faults.log_text_after_argument(query, call, log)
    elif prefix := catalog.longest_prefix([part.text for part in call.name]):
        prefix_definition, word_count = prefix
        call_faults.log_unquoted(query, span, parts[word_count:], prefix_definition, log)
    else:
        call_faults.log_unknown(call, span, catalog, log)
    return None


def _filled(
    definition: TemplateDefinition, call: TemplateCall, span: QuerySpan, catalog: TemplateCatalog, log: ProblemLog
) -> Template | None:
    if len(call.arguments) != len(definition.arguments):
        call_faults.log_argument_count(definition, call, span, log)
        return None
    if empty := [argument for argument in call.arguments if not argument.value]:
        for argument in empty:
            call_faults.log_empty_argument(definition, argument, log)
        return None
    return catalog.call(definition.name, *(argument.value for argument in call.arguments), span=span)
