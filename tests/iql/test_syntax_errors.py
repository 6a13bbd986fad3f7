import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.iql import (
    IqlSyntaxError,
    Problem,
    ProblemKind,
    QueryLimits,
    TemplateCatalog,
    canonical_text,
    evaluate,
    parse,
    tree_json,
)
from tests.iql.trees import CATALOG

K = ProblemKind


def problems_of(
    query: str, catalog: TemplateCatalog = CATALOG, limits: QueryLimits | None = None
) -> tuple[Problem, ...]:
    with pytest.raises(IqlSyntaxError) as raised:
        parse(query, catalog, limits or QueryLimits())
    assert raised.value.query == query
    return raised.value.problems


@pytest.mark.parametrize(
    ("query", "kind", "marked", "suggestion"),
    [
        ("", K.EMPTY_QUERY, "", "Write for example"),
        (" \n ", K.EMPTY_QUERY, " \n ", "Write for example"),
        ("{A} OR { }", K.EMPTY_STATEMENT, "{ }", "Write for example"),
        ("{A} AND {B", K.UNCLOSED_BRACE, "{", 'Put "}" where the statement ends'),
        (r"{A\}", K.UNCLOSED_BRACE, "{", r'The brace in "\}" belongs to the words'),
        ("A}", K.UNMATCHED_BRACE, "}", 'Put "{" where the statement begins'),
        ("{A} AND B}", K.UNMATCHED_BRACE, "}", 'Put "{" where the statement begins'),
        (r"{A} AND \{B}", K.UNMATCHED_BRACE, "}", 'Put "{" where the statement begins'),
        ("{A AND {B}", K.NESTED_STATEMENT, "{", "Close that statement before the next one begins"),
        ("({A} AND ({B})", K.UNCLOSED_PARENTHESIS, "(", 'Put ")" where the group ends'),
        ("{A}) OR {B}", K.UNMATCHED_PARENTHESIS, ")", "Leave it out"),
        ("{A} AND ()", K.MISSING_OPERAND, ")", "leave them out"),
        ("{A} AND", K.MISSING_OPERAND, "", "Put a statement after AND, or leave AND out"),
        ("{A} and or {B}", K.MISSING_OPERAND, "or", "Put a statement after and, or leave and out"),
        ("OR {B}", K.MISSING_OPERAND, "OR", "Put a statement before it"),
        ("({A} +) OR {B}", K.MISSING_OPERAND, ")", "Put a statement after +"),
        ("NOT", K.MISSING_OPERAND, "", "Put a statement after NOT"),
        ("{A} {B}", K.MISSING_OPERATOR, "{B}", "Put AND, OR, +, > or < between the two"),
        ("{A} NOT {B}", K.MISSING_OPERATOR, "NOT", "Put AND or OR between the two"),
        ("{A} ({B})", K.MISSING_OPERATOR, "(", "Put AND, OR, +, > or < between the two"),
        ("{A} > NOT {B}", K.MISPLACED_NOT, "NOT", "{A} > (NOT {B})"),
        ("{A} && {B}", K.TEXT_OUTSIDE_BRACES, "&&", "Write AND."),
        ("{A} || {B}", K.TEXT_OUTSIDE_BRACES, "||", "Write OR."),
        ("{A} - {B}", K.TEXT_OUTSIDE_BRACES, "-", "Write AND NOT."),
        ("{A} but not {B}", K.TEXT_OUTSIDE_BRACES, "but", "Write AND."),
        ("{A} >= {B}", K.TEXT_OUTSIDE_BRACES, ">=", "Write >."),
        ("!{A}", K.TEXT_OUTSIDE_BRACES, "!", "Write NOT."),
        ("{A}, {B}", K.TEXT_OUTSIDE_BRACES, ",", "Write AND or OR."),
        ("{A} likes {B}", K.TEXT_OUTSIDE_BRACES, "likes", "Leave it out, or take it into the braces"),
        ("Find all {A}", K.TEXT_OUTSIDE_BRACES, "Find all", "Put it in braces: {Find all}"),
        ("{A} AND a cap", K.TEXT_OUTSIDE_BRACES, "a cap", "Put it in braces: {a cap}"),
        ("{A}.", K.TEXT_OUTSIDE_BRACES, ".", "Leave it out"),
        ("{IS}", K.MISSING_TEMPLATE_NAME, "{IS}", "{IS confidentiality clause}"),
        ("IS ", K.MISSING_TEMPLATE_NAME, "IS", "{IS confidentiality clause}"),
        ("{IS mutual clause}", K.UNKNOWN_TEMPLATE, "mutual clause", "{This is a mutual clause.}"),
        ("{IS confidentiality clause.}", K.UNKNOWN_TEMPLATE, "confidentiality clause.", "{IS confidentiality clause}"),
        ('{IS "x"}', K.UNKNOWN_TEMPLATE, '"x"', "Say it in words"),
        ("{IS clause that limits liability}", K.UNQUOTED_ARGUMENT, "limits liability", '"limits liability"}'),
        ('{IS clause that limits "risk"}', K.UNQUOTED_ARGUMENT, 'limits "risk"', r'"limits \"risk\""}'),
        ("{IS clause obligating “Customer”}", K.WRONG_QUOTES, "“Customer”", '{IS clause obligating "Customer"}'),
        ("{IS clause obligating 'the Buyer'}", K.WRONG_QUOTES, "'the Buyer'", '{IS clause obligating "the Buyer"}'),
        (r"{IS clause obligating \"Buyer\"}", K.WRONG_QUOTES, r"\"Buyer\"", '{IS clause obligating "Buyer"}'),
        ("{IS clause obligating ''}", K.WRONG_QUOTES, "''", '{IS clause obligating "PARTY"}'),
        ("{IS clause called}", K.ARGUMENT_COUNT, "{IS clause called}", '{IS clause called "NAME"}'),
        ('{IS clause called "a" "b"}', K.ARGUMENT_COUNT, '"a" "b"', '{IS clause called "NAME"}'),
        ('{IS payment clause "x"}', K.ARGUMENT_COUNT, '"x"', "{IS payment clause}"),
        ('{IS clause called " "}', K.EMPTY_ARGUMENT, '" "', "Write the argument in the quotes"),
        ('{IS clause called "x}', K.UNCLOSED_QUOTE, '"', "where the argument ends"),
        ('{IS clause called "x" too}', K.TEXT_AFTER_ARGUMENT, "too", "take it into the quotes"),
        ('{IS clause called "x" and y}', K.TEXT_AFTER_ARGUMENT, "and y", "{A} AND {B}"),
    ],
)
def test_one_fault(query: str, kind: ProblemKind, marked: str, suggestion: str) -> None:
    first, *_ = problems_of(query)

    assert (first.kind, query[first.span.start : first.span.end]) == (kind, marked)
    assert any(suggestion in found for found in first.suggestions), first.suggestions
    assert f"{kind}: found " in first.message
    assert ", expected " in first.message


@pytest.mark.parametrize(
    ("query", "operator", "mended"),
    [
        ("{IS termination clause or payment clause}", "or", "{IS termination clause} OR {IS payment clause}"),
        ("{IS right AND IS obligation}", "AND", "{IS right} AND {IS obligation}"),
        ("IS right and not IS obligation", "and", "{IS right} AND NOT {IS obligation}"),
        ("{IS NOT confidentiality clause}", "NOT", "NOT {IS confidentiality clause}"),
        ("NOT IS confidentiality clause", "NOT", "NOT {IS confidentiality clause}"),
        (
            '{IS clause obligating "A" and clause entitling "B or C"}',
            "and",
            '{IS clause obligating "A"} AND {IS clause entitling "B or C"}',
        ),
    ],
)
def test_operator_inside_a_statement(query: str, operator: str, mended: str) -> None:
    (problem,) = problems_of(query)

    assert problem.kind is K.OPERATOR_INSIDE_STATEMENT
    assert query[problem.span.start : problem.span.end] == operator
    assert problem.suggestions == (f"Write {mended}",)
    parse(mended, CATALOG)


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("force majeur clause", ["force majeure clause"]),
        ("limitations of liabilty clause", ["liability limitation clause"]),
        ("asignment clause", ["assignment clause"]),
        ("confidentialty clause", ["confidentiality clause"]),
        ("governing law", ["governing law clause"]),
        ("indemnificaton clause", ["indemnity clause"]),
        ("mutual clause", ['clause called "mutual"']),
        ("boilerplate clause", ['clause called "boilerplate"']),
        ("counterparts clause", ['clause called "counterparts"']),
    ],
)
def test_unknown_template_suggests_the_nearest_and_plain_words(name: str, nearest: list[str]) -> None:
    (problem,) = problems_of(f"{{IS {name}}}")

    assert problem.kind is K.UNKNOWN_TEMPLATE
    assert problem.span.start == 4
    assert list(problem.suggestions[: len(nearest)]) == [f"Use the template {{IS {near}}}" for near in nearest]
    article = "an" if name.startswith(("a", "i")) else "a"
    assert problem.suggestions[-1] == f"Say it in words: {{This is {article} {name}.}}"


def test_independent_faults_are_all_reported_in_order() -> None:
    query = "{IS mutual clause} {} AND NOT ({IS clause that x} XOR {IS clause called ''} +"

    assert [problem.kind for problem in problems_of(query)] == [
        K.UNKNOWN_TEMPLATE,
        K.MISSING_OPERATOR,
        K.EMPTY_STATEMENT,
        K.UNCLOSED_PARENTHESIS,
        K.UNQUOTED_ARGUMENT,
        K.TEXT_OUTSIDE_BRACES,
        K.WRONG_QUOTES,
        K.MISSING_OPERAND,
    ]


def test_fault_of_the_braces_hides_what_follows_but_not_what_stands_before() -> None:
    query = "{IS mutual clause} AND {A {IS boilerplate clause} {B}"

    assert [problem.kind for problem in problems_of(query)] == [K.UNKNOWN_TEMPLATE, K.NESTED_STATEMENT]


@pytest.mark.parametrize("query", ["{A} {B} OR {C}", "Find {A} AND {B}", "{A} xor {B}", "! {A}", "({A} likes {B})"])
def test_one_fault_is_reported_once(query: str) -> None:
    assert len(problems_of(query)) == 1


def test_no_more_than_ten_problems_are_reported() -> None:
    assert len(problems_of("{} " * 16)) == 10


def test_length_is_limited_in_code_points() -> None:
    assert parse("𝒳" * 4_000, CATALOG)

    (problem,) = problems_of("𝒳" * 4_001)

    assert problem.kind is K.TOO_LONG
    assert (problem.span.start, problem.span.end) == (4_000, 4_001)
    assert problem.message == "query too long: found 4,001 characters, expected at most 4,000"


def test_statements_are_limited_as_written() -> None:
    assert parse(" + ".join(["{A}"] * 16), CATALOG)

    (problem,) = problems_of(" + ".join(["{A}"] * 17))

    assert problem.kind is K.TOO_MANY_STATEMENTS
    assert problem.span.start == 6 * 16


@pytest.mark.parametrize(("opening", "closing"), [("(", ")"), ("NOT ", ""), ("NOT (", ")")])
def test_depth_is_limited_in_parentheses_and_nots(opening: str, closing: str) -> None:
    layers = opening.count("(") + opening.count("NOT")
    fits, exceeds = 32 // layers, 32 // layers + 1

    assert parse(opening * fits + "{A}" + closing * fits, CATALOG)
    (problem,) = problems_of(opening * exceeds + "{A}" + closing * exceeds)

    assert problem.kind is K.TOO_DEEP


def test_depth_is_that_of_the_deepest_statement_not_a_sum() -> None:
    limits = QueryLimits(max_depth=3)

    assert parse("NOT ({A} AND NOT {B}) AND NOT (NOT {C} OR NOT {D}) OR ((({E})))", CATALOG, limits)
    assert problems_of("NOT ({A} AND NOT NOT {B})", limits=limits)[0].kind is K.TOO_DEEP


@pytest.mark.parametrize(
    "limits", [{"max_length": 0}, {"max_length": 100_001}, {"max_statements": 129}, {"max_depth": 65}, {"max_depth": 0}]
)
def test_limits_stay_within_what_recursion_bears(limits: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="between 1 and"):
        QueryLimits(**limits)


@pytest.mark.parametrize("layer", ["{A} + {A} > (", "{A} OR NOT (", "{A} OR {A} AND (", "("])
def test_largest_limits_can_be_used_up(layer: str) -> None:
    limits = QueryLimits(max_length=100_000, max_statements=128, max_depth=64)
    layers = min(64 // (layer.count("(") + layer.count("NOT")), 126 // max(1, layer.count("{A}")))

    tree = parse(layer * layers + "{A} + {A}" + ")" * layers, CATALOG, limits)

    assert parse(canonical_text(tree), CATALOG, limits) == tree
    assert tree_json(tree)
    assert evaluate(tree, {"A": np.array([0.5])}).tolist() == [0.5]


@given(st.text(max_size=40) | st.text(alphabet="clause thatIS\"“\\' ANDor", max_size=40))
def test_mended_calls_are_sound(text: str) -> None:
    braceless = text.replace("{", "").replace("}", "")
    for query in (f"{{IS {braceless} }}", f"{{IS clause that {braceless} }}"):
        try:
            parse(query, CATALOG)
        except IqlSyntaxError as error:
            for problem in error.problems:
                for mended in _queries_in(problem):
                    parse(mended, CATALOG)


def _queries_in(problem: Problem) -> list[str]:
    return [found[0] for s in problem.suggestions if (found := re.search(r"(?:NOT )?\{.*\}$", s, re.DOTALL))]
