import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.iql import (
    And,
    Average,
    Comparator,
    Comparison,
    ComparisonMode,
    Expression,
    Not,
    Or,
    Scores,
    Statement,
    Template,
    TemplateCatalog,
    evaluate,
    node_scores,
    parse,
)
from tests.iql.trees import trees

any_score = st.floats(0, 1) | st.sampled_from([0.0, 0.5, 1.0, 1e-300])
score_tables = st.integers(0, 4).flatmap(
    lambda size: st.fixed_dictionaries(
        {name: st.lists(any_score, min_size=size, max_size=size).map(np.array) for name in "ABCD"}
    )
)
modes = st.sampled_from(ComparisonMode)
any_tree = trees(st.sampled_from("ABCD").map(Statement))
Table = dict[str, Scores]


def oracle(tree: Expression, scores: dict[str, float], mode: ComparisonMode) -> float:
    """The contract's formulas, one chunk at a time."""

    def of(operand: Expression) -> float:
        return oracle(operand, scores, mode)

    match tree:
        case Statement(text) | Template(text=text):
            return scores[text]
        case Not(operand):
            return 1 - of(operand)
        case And(operands):
            return min(map(of, operands))
        case Or(operands):
            return max(map(of, operands))
        case Average(operands):
            return sum(map(of, operands)) / len(operands)
        case Comparison(operands, comparators):
            pairs = zip(operands, operands[1:], comparators, strict=False)
            return min(
                oracle_comparison(of(left), right=of(right), sign=sign, mode=mode) for left, right, sign in pairs
            )


def oracle_comparison(left: float, right: float, sign: Comparator, mode: ComparisonMode) -> float:
    if mode is ComparisonMode.CONTRACT:
        return (left - right + 1) / 2 if sign is Comparator.GREATER else (right - left + 1) / 2
    if sign is Comparator.GREATER:
        return left if left > right else 0
    return right if right > left else 0


@given(any_tree, score_tables)
def test_contract_scores_equal_a_direct_recursive_oracle(tree: Expression, scores: Table) -> None:
    expected = [oracle(tree, chunk, ComparisonMode.CONTRACT) for chunk in chunks(scores)]

    assert evaluate(tree, scores) == pytest.approx(expected, abs=1e-9)


grid_tables = st.fixed_dictionaries(
    {name: st.lists(st.integers(0, 8).map(lambda n: n / 8), min_size=3, max_size=3).map(np.array) for name in "ABCD"}
)


@given(any_tree.filter(lambda tree: "Average" not in repr(tree)), grid_tables)
def test_vendor_scores_equal_a_direct_recursive_oracle(tree: Expression, scores: Table) -> None:
    """Scores in eighths and no means: rounding cannot turn a comparison over."""
    expected = [oracle(tree, chunk, ComparisonMode.VENDOR) for chunk in chunks(scores)]

    assert evaluate(tree, scores, ComparisonMode.VENDOR).tolist() == expected


@given(any_tree, score_tables, modes)
def test_scores_of_nodes_are_those_of_the_subtrees_in_pre_order(
    tree: Expression, scores: Table, mode: ComparisonMode
) -> None:
    found = node_scores(tree, scores, mode)

    assert same(found[0], evaluate(tree, scores, mode))
    expected = [evaluate(subtree, scores, mode) for subtree in pre_order(tree)]
    assert len(found) == len(expected)
    assert all(map(same, found, expected))


def pre_order(tree: Expression) -> list[Expression]:
    match tree:
        case Statement() | Template():
            return [tree]
        case Not():
            return [tree, *pre_order(tree.operand)]
        case _:
            return [tree, *(inner for operand in tree.operands for inner in pre_order(operand))]


@given(any_tree, score_tables, modes, st.sampled_from([np.float32, np.float64]))
def test_scores_stay_within_0_and_1(tree: Expression, scores: Table, mode: ComparisonMode, precision: type) -> None:
    found = evaluate(tree, {name: column.astype(precision) for name, column in scores.items()}, mode)

    assert found.shape == scores["A"].shape
    assert found.dtype == precision
    assert ((found >= 0) & (found <= 1)).all()


@given(any_tree, any_tree, score_tables, modes)
def test_and_or_are_commutative(a: Expression, b: Expression, scores: Table, mode: ComparisonMode) -> None:
    for kind in (And, Or):
        assert same(evaluate(kind.of([a, b]), scores, mode), evaluate(kind.of([b, a]), scores, mode))


@given(any_tree, score_tables, modes)
def test_and_or_are_idempotent(a: Expression, scores: Table, mode: ComparisonMode) -> None:
    for kind in (And, Or):
        assert same(evaluate(kind.of([a, a]), scores, mode), evaluate(a, scores, mode))


@given(any_tree, score_tables, modes)
def test_not_not_is_nothing(a: Expression, scores: Table, mode: ComparisonMode) -> None:
    assert same(evaluate(Not(Not(a)), scores, mode), evaluate(a, scores, mode))


@pytest.mark.parametrize(
    ("query", "contract", "vendor"),
    [
        ("{A} > {B}", [0.75, 0.5, 0.25], [0.75, 0, 0]),
        ("{A} < {B}", [0.25, 0.5, 0.75], [0, 0, 0.75]),
        ("{A} > {B} < {A}", [0.75, 0.5, 0.25], [0.75, 0, 0]),
        ("{A} > {B} > {A}", [0.25, 0.5, 0.25], [0, 0, 0]),
        ("NOT {A} > {B}", [0.25, 0.5, 0.75], [0.25, 1, 1]),
        ("({A} + {B}) + {B}", [0.375, 0.5, 0.625], [0.375, 0.5, 0.625]),
    ],
)
def test_scores_by_hand(query: str, contract: list[float], vendor: list[float], catalog: TemplateCatalog) -> None:
    scores = {"A": np.array([0.75, 0.5, 0.25]), "B": np.array([0.25, 0.5, 0.75])}
    tree = parse(query, catalog)

    assert evaluate(tree, scores).tolist() == contract
    assert evaluate(tree, scores, ComparisonMode.VENDOR).tolist() == vendor


def test_template_scores_as_the_statement_that_it_stands_for(catalog: TemplateCatalog) -> None:
    tree = parse('{IS clause that "x"}', catalog)

    assert evaluate(tree, {"This is a clause that x.": np.array([0.3])}).tolist() == [0.3]


def test_answer_is_not_the_callers_array() -> None:
    scores = {"A": np.array([0.5])}

    evaluate(Statement("A"), scores)[0] = 1

    assert scores["A"].tolist() == [0.5]


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({"A": np.zeros(2)}, "no scores"),
        ({"A": np.zeros(2), "B": np.zeros(3)}, "as many"),
        ({"A": np.zeros((2, 1)), "B": np.zeros((2, 1))}, "vectors"),
        ({"A": np.array([0.0, np.nan]), "B": np.zeros(2)}, "not within"),
        ({"A": np.zeros(2), "B": np.array([0, 1.01])}, "not within"),
    ],
)
def test_unsound_scores_are_refused(scores: Table, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate(And((Statement("A"), Statement("B"))), scores)


def chunks(scores: Table) -> list[dict[str, float]]:
    return [{name: column[i].item() for name, column in scores.items()} for i in range(len(scores["A"]))]


def same(left: Scores, right: Scores) -> bool:
    return bool(np.array_equal(left, right))
