"""From a tree to its canonical text, and the escapes that go with it.

Canonical text has every statement in braces, operator words in upper case, template names in the catalog's spelling,
one space between words and operators, and no parentheses but those that the tree needs. Inside braces every `{`, `}`
and backslash is escaped, inside quotes also every `"`. Parsing it gives an equal tree. It may
be longer than the text that it came from, so `max_length` may have to give.
"""

import re

from proviso_service.iql.syntax import And, Average, Comparison, Expression, Not, Or, Statement, Template

_LOOSEST, _OR, _AND, _NOT, _COMPARISON, _AVERAGE, _ALONE = range(7)
"""How tightly what is printed holds together."""

_ESCAPED_IN_STATEMENT = re.compile(r"[\\{}]")
_ESCAPED_IN_ARGUMENT = re.compile(r'[\\{}"]')
_BEGINS_LIKE_A_TEMPLATE = re.compile(r"IS(?:\s|$)")


def canonical_text(tree: Expression) -> str:
    """The tree as a query."""
    return _printed(tree, _LOOSEST)


def statement_in_braces(text: str) -> str:
    escaped = _ESCAPED_IN_STATEMENT.sub(r"\\\g<0>", text)
    return f"{{\\{escaped}}}" if _BEGINS_LIKE_A_TEMPLATE.match(text) else f"{{{escaped}}}"


def template_in_braces(name: str, arguments: tuple[str, ...]) -> str:
    return f"{{{' '.join(('IS', name, *map(argument_in_quotes, arguments)))}}}"


def argument_in_quotes(text: str) -> str:
    escaped = _ESCAPED_IN_ARGUMENT.sub(r"\\\g<0>", text)
    return f'"{escaped}"'


def _printed(tree: Expression, floor: int) -> str:
    """In parentheses when the tree holds together less tightly than `floor`."""
    match tree:
        case Statement():
            return statement_in_braces(tree.text)
        case Template():
            return template_in_braces(tree.name, tree.arguments)
        case Not():
            text, tightness = f"NOT {_printed(tree.operand, _NOT)}", _NOT
        case And():
            text, tightness = " AND ".join(_printed(operand, _NOT) for operand in tree.operands), _AND
        case Or():
            text, tightness = " OR ".join(_printed(operand, _AND) for operand in tree.operands), _OR
        case Average():
            text, tightness = " + ".join(_printed(operand, _ALONE) for operand in tree.operands), _AVERAGE
        case Comparison():
            text, tightness = _printed_comparison(tree), _COMPARISON
    return text if tightness >= floor else f"({text})"


def _printed_comparison(tree: Comparison) -> str:
    first, *others = (_printed(operand, _AVERAGE) for operand in tree.operands)
    rest = (f" {comparator} {other}" for comparator, other in zip(tree.comparators, others, strict=True))
    return first + "".join(rest)
