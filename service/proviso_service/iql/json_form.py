"""The tree as JSON, for clients that show or check a query.

Every node is an object with `type`, and with `start` and `end`: its place in the query's text, in Unicode code points,
`end` exclusive. A statement's place takes in its braces; an operator's place reaches from its first operand to its
last, with their parentheses. By `type`:

    statement    text: the statement in words, without escapes
    template     name, arguments: list of strings, text: the statement in words that it stands for
    not          operand: node
    and, or      operands: two nodes or more
    average      operands: two nodes or more
    comparison   operands: two nodes or more; comparators: list of ">" and "<", one fewer than operands

Members may be added; those named here stay.
"""

import json
from typing import Any

from proviso_service.iql.syntax import And, Average, Comparison, Expression, Not, Or, Statement, Template

_TYPES = {And: "and", Or: "or", Average: "average"}


def tree_json(tree: Expression) -> str:
    """The tree as one line of JSON in ASCII."""
    return json.dumps(_node(tree))


def _node(tree: Expression) -> dict[str, Any]:
    return {**_members(tree), "start": tree.span.start, "end": tree.span.end}


def _members(tree: Expression) -> dict[str, Any]:
    match tree:
        case Statement():
            return {"type": "statement", "text": tree.text}
        case Template():
            return {"type": "template", "name": tree.name, "arguments": list(tree.arguments), "text": tree.text}
        case Not():
            return {"type": "not", "operand": _node(tree.operand)}
        case And() | Or() | Average():
            return {"type": _TYPES[type(tree)], "operands": [_node(operand) for operand in tree.operands]}
        case Comparison():
            operands = [_node(operand) for operand in tree.operands]
            return {"type": "comparison", "operands": operands, "comparators": list(map(str, tree.comparators))}
