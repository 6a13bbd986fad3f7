"""Any text is read or refused, quickly, and never crashes."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proviso_service.iql import (
    Expression,
    IqlSyntaxError,
    QueryLimits,
    canonical_text,
    parse,
    render,
    statements,
    tree_json,
)
from tests.iql.trees import CATALOG

LENGTH = 4_000
TIME_LIMIT_S = 0.05
ROOMY = QueryLimits(max_length=100_000)

PIECES = [
    *("(", ")", "{", "}", '"', "\\", "+", ">", "“", "'", " ", "\n", "\x00", "𝒳", "x"),
    *("NOT ", "(NOT ", "{}", "{A}", "{A} ", "{A} AND ", "{A} + ", "{A}(", "{A} x ", "x(", "&& ", "{\\", '{"', '\\"'),
    *("{IS x}", "{IS ", '{IS "', "{IS clause that ", "{IS clause that x}", "{IS mutual clause} ", "{IS a and "),
]
INSIDE_A_CALL = ["'x", '\\"', '"x" ', "and not ", "clause and IS ", "x", "ab cd ", "'", '"', "\\", "clause "]


def read(query: str) -> None:
    """Everything that happens to a query before a model is asked, and everything to a refused one."""
    outcome = parsed_or_refused(query)
    if isinstance(outcome, IqlSyntaxError):
        assert outcome.problems
        assert all(0 <= problem.span.start <= problem.span.end <= len(query) for problem in outcome.problems)
        assert render(outcome)
        assert str(outcome)
    else:
        assert statements(outcome)
        assert tree_json(outcome)
        assert parse(canonical_text(outcome), CATALOG, ROOMY) == outcome


def parsed_or_refused(query: str) -> Expression | IqlSyntaxError:
    try:
        return parse(query, CATALOG)
    except IqlSyntaxError as error:
        return error


def seconds_to_read(query: str) -> float:
    """Of this thread's own time, so that a busy machine does not count; the better of two."""
    taken = []
    for _ in range(2):
        start = time.thread_time()
        read(query)
        taken.append(time.thread_time() - start)
    return min(taken)


@pytest.mark.parametrize("piece", PIECES)
def test_repetition_is_read_or_refused_in_time(piece: str) -> None:
    assert seconds_to_read((piece * LENGTH)[:LENGTH]) < TIME_LIMIT_S


@pytest.mark.parametrize("frame", ["{{IS clause that {}}}", '{{IS clause that "{}}}', "{{IS {}}}", "{{x IS {}}}"])
@pytest.mark.parametrize("piece", INSIDE_A_CALL)
def test_repetition_inside_a_call_is_read_or_refused_in_time(frame: str, piece: str) -> None:
    assert seconds_to_read(frame.format((piece * LENGTH)[: LENGTH - 20])) < TIME_LIMIT_S


def test_longest_sound_query_is_read_in_time() -> None:
    query = " AND ".join(["NOT (" * 16 + f'{{IS clause that "{"y" * 80}"}}' + ")" * 16] * 16)

    assert len(query) <= LENGTH
    parse(query, CATALOG)
    assert seconds_to_read(query) < TIME_LIMIT_S


@given(st.text(max_size=LENGTH) | st.text(alphabet='{}()\\" \nIScaluse+><ANDORNOT', max_size=LENGTH))
def test_any_text_is_read_or_refused_in_time(query: str) -> None:
    assert seconds_to_read(query) < TIME_LIMIT_S


@given(st.lists(st.sampled_from([*PIECES, *INSIDE_A_CALL]), max_size=400).map(lambda found: "".join(found)[:LENGTH]))
@settings(max_examples=200)
def test_any_text_of_the_languages_own_pieces_is_read_or_refused_in_time(query: str) -> None:
    assert seconds_to_read(query) < TIME_LIMIT_S


def test_lone_surrogates_do_no_harm() -> None:
    read("{IS \ud800 clause}")
    read("\udfff")
