"""Reports what is wrong with a template call, and what was probably meant."""

from collections.abc import Sequence

from proviso_service.iql.call_parts import (
    CallPart,
    JoinedCalls,
    TemplateCall,
    is_operator_word,
    joined,
    span_of,
    unescaped,
)
from proviso_service.iql.problems import Edit, ProblemKind, ProblemLog, Remedy, closed, leaving_out, quoted, replacing
from proviso_service.iql.syntax import QuerySpan, statement_in_braces, template_in_braces
from proviso_service.iql.templates import TemplateCatalog, TemplateDefinition

_OTHER_QUOTES = "“”„‟«»‹›‘’‚‛'`´＂"  # noqa: RUF001  those that people and word processors write
_QUOTES_ESCAPES_SPACE = f'{_OTHER_QUOTES}"\\ \t\r\n'
_WITHOUT_ARTICLE = frozenset({"a", "an", "the", "relevant"})


def log_missing_name(span: QuerySpan, log: ProblemLog) -> None:
    """Reports a call that is nothing but `IS`."""
    log.add(
        ProblemKind.MISSING_TEMPLATE_NAME,
        span,
        "nothing after IS",
        "the name of a template",
        replacing("Write for example", span, "{IS confidentiality clause}"),
    )


def log_unclosed_quote(query: str, part: CallPart, end: int, log: ProblemLog) -> None:
    """Reports a quote that nothing closes; `end` is where the words of the statement end."""
    log.add(
        ProblemKind.UNCLOSED_QUOTE,
        QuerySpan(part.start, part.end),
        "the end of the statement",
        f"'\"' to close the argument that begins at character {part.start + 1}",
        Remedy("Put '\"' where the argument ends.", (closed(query, end, '"', "Close it at the end of the statement"),)),
        "Write '\\\"' for a quote that belongs to an argument's words.",
    )


def log_argument_count(definition: TemplateDefinition, call: TemplateCall, span: QuerySpan, log: ProblemLog) -> None:
    """Reports a call with more or fewer arguments than its template takes."""
    log.add(
        ProblemKind.ARGUMENT_COUNT,
        span_of(call.arguments) if call.arguments else span,
        _counted(len(call.arguments)),
        f"{_counted(len(definition.arguments))} for the template {definition.name}",
        replacing("Write", span, definition.signature),
    )


def _counted(arguments: int) -> str:
    return {0: "no argument", 1: "one argument"}.get(arguments, f"{arguments} arguments")


def log_empty_argument(definition: TemplateDefinition, argument: CallPart, log: ProblemLog) -> None:
    """Reports an argument that is empty or white space."""
    log.add(
        ProblemKind.EMPTY_ARGUMENT,
        QuerySpan(argument.start, argument.end),
        "nothing between the quotes",
        f"the words of the argument, as in {definition.signature}",
        "Write the argument in the quotes.",
    )


def log_operator_inside(query: str, span: QuerySpan, joined_calls: JoinedCalls, log: ProblemLog) -> None:
    """Reports an operator between calls in one pair of braces; `span` is that of the statement."""
    operator, mended = joined_calls
    is_whole = query[span.start : span.end] == query.strip()
    # In a larger query the operators still belong together, so they get parentheses.
    edit = Edit(span, mended if is_whole else f"({mended})", mended)
    log.add(
        ProblemKind.OPERATOR_INSIDE_STATEMENT,
        QuerySpan(operator.start, operator.end),
        quoted(operator.text),
        "operators between statements, each in its own braces",
        Remedy(f"Write {mended}", (edit,)),
    )


def log_text_after_argument(query: str, call: TemplateCall, log: ProblemLog) -> None:
    """Reports text that follows the arguments of a call."""
    span = span_of(call.rest)
    log.add(
        ProblemKind.TEXT_AFTER_ARGUMENT,
        span,
        quoted(query[span.start : span.end]),
        "the end of the statement",
        *_separate_braces(call.rest),
        leaving_out("Leave it out, or take it into the quotes.", span),
    )


def log_unquoted(
    query: str, statement: QuerySpan, parts: Sequence[CallPart], definition: TemplateDefinition, log: ProblemLog
) -> None:
    """Reports arguments that are not all in straight double quotes; `parts` are what follows the template's name."""
    span = span_of(parts)
    text = query[span.start : span.end]
    has_other_quotes = text[0] in _OTHER_QUOTES or text.startswith('\\"')
    words = unescaped(text.strip(_QUOTES_ESCAPES_SPACE) if has_other_quotes else text).strip()
    mendable = words and len(definition.arguments) == 1
    mended = template_in_braces(definition.name, (words,)) if mendable else definition.signature
    log.add(
        ProblemKind.WRONG_QUOTES if has_other_quotes else ProblemKind.UNQUOTED_ARGUMENT,
        span,
        quoted(text),
        f"{definition.arguments[0]} in straight double quotes",
        replacing("Write", statement, mended),
    )


def log_unknown(call: TemplateCall, span: QuerySpan, catalog: TemplateCatalog, log: ProblemLog) -> None:
    """Reports a call of a template that does not exist, and suggests those with a similar name."""
    log.add(
        ProblemKind.UNKNOWN_TEMPLATE,
        span_of(call.name or call.arguments),
        quoted(call.name_text or joined(call.arguments)),
        "the name of a template",
        *(replacing("Use the template", span, signature) for signature in _nearest(call.name_text, catalog)),
        replacing("Say it in words:", span, _in_words([*call.name, *call.arguments, *call.rest])),
        *_separate_braces(call.name),
    )


def _nearest(name: str, catalog: TemplateCatalog) -> list[str]:
    """Returns calls of templates with a name like this one; where there are none, the template for headings."""
    if near := [definition.signature for definition in catalog.nearest(name)]:
        return near
    heading = unescaped(name).casefold().removesuffix("clause").strip()
    return [template_in_braces("clause called", (heading,))] if heading and catalog.get("clause called") else []


def _separate_braces(parts: Sequence[CallPart]) -> list[str]:
    return ["Operators stand between statements: {A} AND {B}"] if any(map(is_operator_word, parts)) else []


def _in_words(parts: Sequence[CallPart]) -> str:
    """Returns the statement in words that comes nearest to the call."""
    name = unescaped(joined(parts)).rstrip(". ")
    first = name.partition(" ")[0].casefold()
    article = "" if first in _WITHOUT_ARTICLE else "an " if first.startswith(tuple("aeiou")) else "a "
    return statement_in_braces(f"This is {article}{name}.")
