"""Edits carry out what suggestions say: each is applied, and what it was offered for is gone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.iql import Edit, IqlSyntaxError, Problem, parse
from tests.iql.test_syntax_errors import problems_of
from tests.iql.trees import CATALOG

PIECES = (
    "{",
    "}",
    "(",
    ")",
    '"',
    "\\",
    " ",
    "A",
    "IS ",
    "clause called ",
    "AND",
    "or ",
    "NOT ",
    "+",
    ">=",
    ",",
    "!",
    "\n",
)


def edits_of(problem: Problem) -> list[Edit]:
    return [edit for remedy in problem.remedies for edit in remedy.edits]


@pytest.mark.parametrize(
    ("query", "mended"),
    [
        ("", {"{IS confidentiality clause}": "{IS confidentiality clause}"}),
        (
            "{A} OR { }",
            {
                "{IS confidentiality clause}": "{A} OR {IS confidentiality clause}",
                "{This clause limits liability.}": "{A} OR {This clause limits liability.}",
            },
        ),
        ("{IS}", {"{IS confidentiality clause}": "{IS confidentiality clause}"}),
        (
            "{IS mutual clause} AND {A}",
            {
                '{IS clause called "mutual"}': '{IS clause called "mutual"} AND {A}',
                "{This is a mutual clause.}": "{This is a mutual clause.} AND {A}",
            },
        ),
        (
            "{A} AND {IS clause that limits liability}",
            {'{IS clause that "limits liability"}': '{A} AND {IS clause that "limits liability"}'},
        ),
        ('{IS payment clause "x"} OR {A}', {"{IS payment clause}": "{IS payment clause} OR {A}"}),
        ('{IS clause called "x" too}', {"Leave it out": '{IS clause called "x" }'}),
        ('{IS clause called "x }', {"Close it at the end of the statement": '{IS clause called "x" }'}),
        (
            "{A} AND {IS payment clause or termination clause}",
            {
                "{IS payment clause} OR {IS termination clause}": (
                    "{A} AND ({IS payment clause} OR {IS termination clause})"
                )
            },
        ),
        (
            " {IS payment clause or termination clause} ",
            {
                "{IS payment clause} OR {IS termination clause}": " {IS payment clause} OR {IS termination clause} ",
            },
        ),
        (
            "{A}{B}",
            {
                "AND": "{A} AND {B}",
                "OR": "{A} OR {B}",
                "+": "{A} + {B}",
                ">": "{A} > {B}",
                "<": "{A} < {B}",
            },
        ),
        ("{A} NOT {B}", {"AND": "{A} AND NOT {B}", "OR": "{A} OR NOT {B}"}),
        ("{A} && {B}", {"AND": "{A} AND {B}"}),
        ("{A}, {B}", {"AND": "{A} AND {B}", "OR": "{A} OR {B}"}),
        ("{A} - {B}", {"AND NOT": "{A} AND NOT {B}"}),
        ("!{A}", {"NOT": "NOT {A}"}),
        ("{A} AND , {B}", {}),
        ("{A} xor {B}", {}),
        ("{A}.", {"Leave it out": "{A}"}),
        ("{A} AND a cap", {"{a cap}": "{A} AND {a cap}"}),
        ("{A} AND {B ", {"Close it at the end": "{A} AND {B}"}),
        ("{A} AND {B\\", {"Close it at the end": "{A} AND {B\\ }"}),
        ("{A {B}", {"Close it here": "{A} {B}"}),
        ("({A} OR {B} ", {"Close it at the end": "({A} OR {B})", 'Leave "(" out': "{A} OR {B} "}),
        ("{A}) OR {B}", {"Leave it out": "{A} OR {B}"}),
        ("{A} AND", {"Leave AND out": "{A} "}),
        ("{A} AND () OR {B}", {"Leave them out": "{A} AND  OR {B}"}),
        ("OR {B}", {}),
        ("{A} > NOT {B}", {}),
    ],
)
def test_edits_of_a_fault(query: str, mended: dict[str, str]) -> None:
    first, *_ = problems_of(query)

    assert {edit.label: edit.applied(query) for edit in edits_of(first)} == mended


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_each_edit_changes_the_query_within_its_bounds(query: str) -> None:
    try:
        parse(query, CATALOG)
    except IqlSyntaxError as error:
        for edit in (edit for problem in error.problems for edit in edits_of(problem)):
            assert 0 <= edit.span.start <= edit.span.end <= len(query)
            assert edit.applied(query) != query
