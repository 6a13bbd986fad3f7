"""The syntax tree of a query, its canonical text and its JSON.

Nodes are values: they are equal when they say the same, wherever they stand in a text. Trees have one shape for one
meaning where the operators allow it: AND and OR are associative, so an AND never holds an AND and an OR never holds an
OR (`And.of` and `Or.of` merge them). A mean of means is another number than the mean of all, so an `Average` may hold
an `Average`. A chain `A > B > C` is one `Comparison`; it stays as it was written, so that the text it prints to is as
short as the text it came from."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class QuerySpan:
    """A part of a query's text, in Unicode code points; `end` is exclusive."""

    start: int
    end: int


NOWHERE = QuerySpan(0, 0)
"""The span of a node that was built, not parsed."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement in words. `text` is free of escapes and of white space around it, and not empty."""

    text: str
    span: QuerySpan = field(default=NOWHERE, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        _require_text("a statement", self.text)


@dataclass(frozen=True, slots=True)
class Template:
    """A call of a template. `text` is the statement in words that it stands for; `TemplateCatalog.call` makes one."""

    name: str
    arguments: tuple[str, ...]
    text: str
    span: QuerySpan = field(default=NOWHERE, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        for text in (self.text, *self.arguments):
            _require_text("a template's argument", text)


@dataclass(frozen=True, slots=True)
class Not:
    """The negation of one operand."""

    operand: "Expression"
    span: QuerySpan = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class And:
    """Two operands or more, none of which is an AND."""

    operands: tuple["Expression", ...]
    span: QuerySpan = field(default=NOWHERE, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        _require_flat(self.operands, And)

    @classmethod
    def of(cls, operands: Sequence["Expression"], span: QuerySpan = NOWHERE) -> "And":
        """Makes an AND; an AND among `operands` is replaced by its own operands."""
        return cls(tuple(inner for o in operands for inner in (o.operands if isinstance(o, And) else (o,))), span=span)


@dataclass(frozen=True, slots=True)
class Or:
    """Two operands or more, none of which is an OR."""

    operands: tuple["Expression", ...]
    span: QuerySpan = field(default=NOWHERE, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        _require_flat(self.operands, Or)

    @classmethod
    def of(cls, operands: Sequence["Expression"], span: QuerySpan = NOWHERE) -> "Or":
        """Makes an OR; an OR among `operands` is replaced by its own operands."""
        return cls(tuple(inner for o in operands for inner in (o.operands if isinstance(o, Or) else (o,))), span=span)


@dataclass(frozen=True, slots=True)
class Average:
    """The mean `A + B + ...` of two operands or more."""

    operands: tuple["Expression", ...]
    span: QuerySpan = field(default=NOWHERE, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        _require_several(self.operands)


class Comparator(StrEnum):
    """The operators of a comparison."""

    GREATER = ">"
    LESS = "<"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison `A > B`, or a chain: `A > B < C` means `(A > B) AND (B < C)`. `comparators[i]` stands before
    `operands[i + 1]`."""

    operands: tuple["Expression", ...]
    comparators: tuple[Comparator, ...]
    span: QuerySpan = field(default=NOWHERE, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        _require_several(self.operands)
        if len(self.comparators) != len(self.operands) - 1:
            raise ValueError("a comparison has one comparator between two operands")


Expression: TypeAlias = Statement | Template | Not | And | Or | Average | Comparison


def nodes(tree: Expression) -> Iterator[Expression]:
    """Yields all nodes in pre-order: a node before its operands, and these from left to right."""
    yield tree
    match tree:
        case Statement() | Template():
            return
        case Not():
            yield from nodes(tree.operand)
        case _:
            for operand in tree.operands:
                yield from nodes(operand)


def leaves(tree: Expression) -> Iterator[Statement | Template]:
    """Yields the tree's statements and templates, from left to right."""
    return (node for node in nodes(tree) if isinstance(node, Statement | Template))


def statements(tree: Expression) -> tuple[str, ...]:
    """Returns what a classifier has to score: the statements in words with templates expanded, each once, in the order
    of first use."""
    return tuple(dict.fromkeys(leaf.text for leaf in leaves(tree)))


def _require_text(what: str, text: str) -> None:
    if not text or text != text.strip():
        raise ValueError(f"{what} is not empty and has no white space around it")


def _require_several(operands: Sequence[Expression]) -> None:
    if len(operands) < 2:
        raise ValueError("an operator joins two operands or more")


def _require_flat(operands: Sequence[Expression], kind: type[And] | type[Or]) -> None:
    _require_several(operands)
    if any(isinstance(operand, kind) for operand in operands):
        raise ValueError(f"an {kind.__name__} does not hold another; merge them with {kind.__name__}.of")


_LOOSEST, _OR, _AND, _NOT, _COMPARISON, _AVERAGE, _ALONE = range(7)
"""How tightly the printed form of each node holds together."""

_ESCAPED_IN_STATEMENT = re.compile(r"[\\{}]")
_ESCAPED_IN_ARGUMENT = re.compile(r'[\\{}"]')
_BEGINS_LIKE_A_TEMPLATE = re.compile(r"IS(?:\s|$)")


def canonical_text(tree: Expression) -> str:
    """Returns the tree as a query in its canonical form, with every statement in braces and operator words in upper
    case."""
    return _printed(tree, _LOOSEST)


def statement_in_braces(text: str) -> str:
    """Returns a statement in words as a query writes it, with its escapes."""
    escaped = _ESCAPED_IN_STATEMENT.sub(r"\\\g<0>", text)
    return f"{{\\{escaped}}}" if _BEGINS_LIKE_A_TEMPLATE.match(text) else f"{{{escaped}}}"


def template_in_braces(name: str, arguments: tuple[str, ...]) -> str:
    """Returns the call of a template as a query writes it."""
    return f"{{{' '.join(('IS', name, *map(argument_in_quotes, arguments)))}}}"


def argument_in_quotes(text: str) -> str:
    """Returns an argument in its quotes, with its escapes."""
    escaped = _ESCAPED_IN_ARGUMENT.sub(r"\\\g<0>", text)
    return f'"{escaped}"'


def _printed(tree: Expression, floor: int) -> str:
    """Prints a tree, in parentheses when it holds together less tightly than `floor`."""
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


_TYPES = {And: "and", Or: "or", Average: "average"}


def tree_json(tree: Expression) -> str:
    """Returns the tree as one line of JSON in ASCII. Every node is an object with its `type`, and with `start` and
    `end`, its place in the query's text."""
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
