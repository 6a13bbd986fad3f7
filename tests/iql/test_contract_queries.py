"""The tool contract's examples, tables and errors, as far as they concern the language."""

import json

import numpy as np
import pytest

from proviso_service.iql import (
    And,
    Average,
    Comparator,
    Comparison,
    Expression,
    IqlSyntaxError,
    Not,
    Or,
    Statement,
    TemplateCatalog,
    canonical_text,
    evaluate,
    parse,
)

A, B, C = Statement("A"), Statement("B"), Statement("C")


@pytest.mark.parametrize(
    ("query", "name", "arguments"),
    [
        ("{IS confidentiality clause}", "confidentiality clause", ()),
        ('{IS clause obligating "Customer"}', "clause obligating", ("Customer",)),
        ('{IS clause that "limits liability"}', "clause that", ("limits liability",)),
    ],
)
def test_basic_templates(query: str, name: str, arguments: tuple[str, ...], catalog: TemplateCatalog) -> None:
    assert parse(query, catalog) == catalog.call(name, *arguments)


@pytest.mark.parametrize(
    ("query", "tree"),
    [
        ("{A} AND {B}", And((A, B))),
        ("{A} OR {B}", Or((A, B))),
        ("NOT {A}", Not(A)),
        ("{A} > {B}", Comparison((A, B), (Comparator.GREATER,))),
        ("{A} < {B}", Comparison((A, B), (Comparator.LESS,))),
        ("{A} + {B}", Average((A, B))),
        ("{A} + {B} + {C}", Average((A, B, C))),
    ],
)
def test_operators(query: str, tree: Expression, catalog: TemplateCatalog) -> None:
    assert parse(query, catalog) == tree
    assert canonical_text(tree) == query


@pytest.mark.parametrize(
    ("query", "score"),
    [
        ("{A} AND {B}", 0.25),
        ("{A} OR {B}", 0.75),
        ("NOT {A}", 0.25),
        ("{A} > {B}", 0.75),
        ("{A} < {B}", 0.25),
        ("{A} + {B} + {C}", 0.5),
    ],
)
def test_score_semantics(query: str, score: float, catalog: TemplateCatalog) -> None:
    scores = {"A": np.array([0.75]), "B": np.array([0.25]), "C": np.array([0.5])}

    assert evaluate(parse(query, catalog), scores).tolist() == [score]


@pytest.mark.parametrize(
    "arguments",
    [
        r'{"query": "{IS confidentiality clause}"}',
        r'{"query": "{IS termination clause} AND {IS unilateral clause}"}',
        r'{"query": "{IS clause obligating \"Customer\"}"}',
    ],
)
def test_usage_examples_are_canonical(arguments: str, catalog: TemplateCatalog) -> None:
    query = json.loads(arguments)["query"]

    assert canonical_text(parse(query, catalog)) == query


def test_invalid_syntax_is_named_in_the_contracts_words_with_details(catalog: TemplateCatalog) -> None:
    with pytest.raises(IqlSyntaxError) as raised:
        parse("{IS clause that limits liability}", catalog)

    assert str(raised.value) == f"Invalid IQL query syntax: {raised.value.details}"
    assert raised.value.details == (
        'At character 17, argument without quotes: found "limits liability", expected DESCRIPTION in straight double '
        'quotes (Write {IS clause that "limits liability"}).'
    )
