"""Operators hold together in the documented order: ( ), +, > and <, NOT, AND, OR."""

import pytest

from proviso_service.iql import QuerySpan, Statement, TemplateCatalog, canonical_text, parse
from proviso_service.iql.syntax import And, Average, Comparison, Not


@pytest.mark.parametrize(
    ("query", "grouped"),
    [
        ("{A} OR {B} AND {C}", "{A} OR ({B} AND {C})"),
        ("{A} AND {B} OR {C}", "({A} AND {B}) OR {C}"),
        ("NOT {A} AND {B}", "(NOT {A}) AND {B}"),
        ("NOT {A} OR {B}", "(NOT {A}) OR {B}"),
        ("NOT {A} > {B}", "NOT ({A} > {B})"),
        ("NOT NOT {A} < {B}", "NOT (NOT ({A} < {B}))"),
        ("NOT {A} + {B}", "NOT ({A} + {B})"),
        ("{A} > {B} + {C}", "{A} > ({B} + {C})"),
        ("{A} + {B} < {C} + {D}", "({A} + {B}) < ({C} + {D})"),
        ("{A} > {B} AND NOT {C} < {D}", "({A} > {B}) AND (NOT ({C} < {D}))"),
        ("{A} AND {B} AND {C}", "({A} AND {B}) AND {C}"),
        ("{A} OR {B} OR {C}", "{A} OR ({B} OR {C})"),
    ],
)
def test_parentheses_that_say_what_holds_anyway(query: str, grouped: str, catalog: TemplateCatalog) -> None:
    assert parse(query, catalog) == parse(grouped, catalog)
    assert canonical_text(parse(grouped, catalog)) == query


@pytest.mark.parametrize(
    "query",
    [
        "({A} OR {B}) AND {C}",
        "NOT ({A} AND {B})",
        "(NOT {A}) > {B}",
        "{A} > (NOT {B})",
        "{A} + (NOT {B})",
        "({A} > {B}) + {C}",
        "({A} > {B}) > {C}",
        "{A} > ({B} > {C})",
        "({A} + {B}) + {C}",
        "{A} + ({B} + {C})",
    ],
)
def test_parentheses_that_matter_are_kept(query: str, catalog: TemplateCatalog) -> None:
    bare = "".join(c for c in query if c not in "()")

    tree = parse(query, catalog)

    assert canonical_text(tree) == query
    assert canonical_text(tree) != bare


def test_chain_of_comparisons_is_one_node(catalog: TemplateCatalog) -> None:
    tree = parse("{A} > {B} < {C} > {D}", catalog)

    assert isinstance(tree, Comparison)
    assert [str(comparator) for comparator in tree.comparators] == [">", "<", ">"]
    assert tree.operands == tuple(map(Statement, "ABCD"))


def test_spans_are_positions_in_code_points(catalog: TemplateCatalog) -> None:
    query = "  NOT ({🙂} + { B }) AND {C}"

    tree = parse(query, catalog)

    assert isinstance(tree, And)
    inverted = tree.operands[0]
    assert isinstance(inverted, Not)
    average = inverted.operand
    assert isinstance(average, Average)
    nodes = (tree, inverted, average, *average.operands)
    assert [query[node.span.start : node.span.end] for node in nodes] == [
        "NOT ({🙂} + { B }) AND {C}",
        "NOT ({🙂} + { B })",
        "{🙂} + { B }",
        "{🙂}",
        "{ B }",
    ]


def test_span_of_a_bare_statement_is_its_words(catalog: TemplateCatalog) -> None:
    assert parse("  a clause ", catalog).span == QuerySpan(2, 10)
