from hypothesis import given, settings
from hypothesis import strategies as st

from proviso_service.iql import (
    And,
    Expression,
    Or,
    QueryLimits,
    Statement,
    TemplateCatalog,
    canonical_text,
    parse,
    statements,
)
from proviso_service.iql.problems import IqlSyntaxError
from tests.iql.trees import CATALOG, any_tree, trees

ROOMY = QueryLimits(max_length=100_000, max_statements=128, max_depth=64)


@given(any_tree)
@settings(max_examples=200)
def test_parsing_what_was_printed_gives_the_tree_back(tree: Expression) -> None:
    assert parse(canonical_text(tree), CATALOG, ROOMY) == tree


@given(any_tree)
def test_spans_of_parsed_trees_print_as_themselves(tree: Expression) -> None:
    text = canonical_text(tree)

    parsed = parse(text, CATALOG, ROOMY)

    for node in _nodes(parsed):
        assert parse(text[node.span.start : node.span.end], CATALOG, ROOMY) == node


@given(trees(st.sampled_from("ABC").map(Statement)))
def test_no_parenthesis_can_be_left_out(tree: Expression) -> None:
    text = canonical_text(tree)

    for opening, closing in _pairs(text):
        without = text[:opening] + " " + text[opening + 1 : closing] + " " + text[closing + 1 :]
        assert _parsed_or_none(without) != tree


def test_escapes_only_what_needs_it(catalog: TemplateCatalog) -> None:
    assert canonical_text(Statement('IS "a" {b} \\ c')) == r'{\IS "a" \{b\} \\ c}'
    assert canonical_text(Statement("Is it?")) == "{Is it?}"
    assert (
        canonical_text(catalog.call("Clause  CALLED", r'a "b" {c} \ d')) == r'{IS clause called "a \"b\" \{c\} \\ d"}'
    )


def test_merging_makes_nested_conjunctions_flat() -> None:
    a, b, c = map(Statement, "ABC")

    assert And.of([And.of([a, b]), c]) == And.of([a, And.of([b, c])]) == And((a, b, c))
    assert Or.of([Or.of([a, b]), c]) == Or.of([a, Or.of([b, c])]) == Or((a, b, c))


def test_statements_are_expanded_in_order_of_first_use_each_once(catalog: TemplateCatalog) -> None:
    tree = parse('{B} + {IS clause that "x"} > {A} OR NOT {B} AND {This is a clause that x.}', catalog)

    assert statements(tree) == ("B", "This is a clause that x.", "A")


def _nodes(tree: Expression) -> list[Expression]:
    inner = getattr(tree, "operands", (tree.operand,) if hasattr(tree, "operand") else ())
    return [tree, *(node for operand in inner for node in _nodes(operand))]


def _pairs(text: str) -> list[tuple[int, int]]:
    opened: list[int] = []
    pairs = []
    for position, character in enumerate(text):
        if character == "(":
            opened.append(position)
        elif character == ")":
            pairs.append((opened.pop(), position))
    return pairs


def _parsed_or_none(query: str) -> Expression | None:
    try:
        return parse(query, CATALOG, ROOMY)
    except IqlSyntaxError:
        return None
