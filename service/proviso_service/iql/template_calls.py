"""Reading a template call: `IS`, the words of the template's name, then its arguments, each in quotes."""

from proviso_service.iql import call_faults
from proviso_service.iql.call_parts import Call, parts_of
from proviso_service.iql.joined_calls import separated
from proviso_service.iql.problems import ProblemLog
from proviso_service.iql.syntax import Span, Template
from proviso_service.iql.templates import TemplateCatalog, TemplateDefinition


def read_call(
    query: str, span: Span, start: int, end: int, catalog: TemplateCatalog, log: ProblemLog
) -> Template | None:
    """The call whose name and arguments stand between `start` and `end`; None when it has a fault, which is logged."""
    parts = parts_of(query, start, end)
    if not parts:
        call_faults.log_missing_name(span, log)
        return None
    if unclosed := next((part for part in parts if part.opens_a_quote), None):
        call_faults.log_unclosed_quote(query, unclosed, end, log)
        return None
    call = Call.of(parts)
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
    definition: TemplateDefinition, call: Call, span: Span, catalog: TemplateCatalog, log: ProblemLog
) -> Template | None:
    if len(call.arguments) != len(definition.arguments):
        call_faults.log_argument_count(definition, call, span, log)
        return None
    if empty := [argument for argument in call.arguments if not argument.value]:
        for argument in empty:
            call_faults.log_empty_argument(definition, argument, log)
        return None
    return catalog.call(definition.name, *(argument.value for argument in call.arguments), span=span)
