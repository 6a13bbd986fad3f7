"""Scores of a query out of the scores of its statements, chunk by chunk.

    A AND B        min(A, B)
    A OR B         max(A, B)
    NOT A          1 - A
    A + B + ...    mean of all operands
    A > B          (A - B + 1) / 2          vendor: A if A > B else 0
    A < B          (B - A + 1) / 2          vendor: B if B > A else 0
    A > B < C      (A > B) AND (B < C)

Two NOTs cancel out before anything is computed, so that NOT NOT A is A to the last bit. Scores stay in [0, 1]; equal
operands compare as 0.5 in the contract's formula and as 0 in the vendor's.
"""

from collections.abc import Mapping
from enum import StrEnum
from functools import reduce
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from proviso_service.iql.syntax import (
    And,
    Average,
    Comparator,
    Comparison,
    Expression,
    Not,
    Or,
    Statement,
    Template,
    nodes,
    statements,
)

Scores: TypeAlias = NDArray[np.floating]
"""One score for each chunk, each in [0, 1]."""


class ComparisonMode(StrEnum):
    """The meaning of `>` and `<`."""

    CONTRACT = "contract"
    VENDOR = "vendor"


def evaluate(
    tree: Expression, scores: Mapping[str, Scores], comparison: ComparisonMode = ComparisonMode.CONTRACT
) -> Scores:
    """Returns one combined score for each chunk, in a new array. `scores` holds an array for each of
    `statements(tree)`, all of one length and in one precision. Raises ValueError when a statement has no scores,
    lengths differ, or a score is not within [0, 1]."""
    _check(statements(tree), scores)
    return np.array(_combined(tree, scores, comparison))


def node_scores(
    tree: Expression, scores: Mapping[str, Scores], comparison: ComparisonMode = ComparisonMode.CONTRACT
) -> list[Scores]:
    """Returns what each node of the tree makes of its operands, in pre-order; the first array is the result of
    `evaluate`. Raises ValueError as `evaluate` does."""
    _check(statements(tree), scores)
    return [_combined(node, scores, comparison) for node in nodes(tree)]


def _check(needed: tuple[str, ...], scores: Mapping[str, Scores]) -> None:
    for text in needed:
        if text not in scores:
            raise ValueError(f"no scores for the statement {text!r}")
        found = scores[text]
        if found.ndim != 1 or found.shape != scores[needed[0]].shape:
            raise ValueError("scores are vectors with one score a chunk, as many for every statement")
        if not ((found >= 0) & (found <= 1)).all():
            raise ValueError(f"a score of the statement {text!r} is not within 0 and 1")


def _combined(tree: Expression, scores: Mapping[str, Scores], comparison: ComparisonMode) -> Scores:
    match tree:
        case Statement() | Template():
            return scores[tree.text]
        case Not(operand=Not(operand=twice_inverted)):
            return _combined(twice_inverted, scores, comparison)
        case Not():
            return 1 - _combined(tree.operand, scores, comparison)
    operands = [_combined(operand, scores, comparison) for operand in tree.operands]
    match tree:
        case And() | Or():
            return reduce(np.minimum if isinstance(tree, And) else np.maximum, operands)
        case Average():
            return reduce(np.add, operands) / len(operands)
        case Comparison():
            links = zip(pairwise(operands), tree.comparators, strict=True)
            return reduce(np.minimum, [_compared(*pair, comparator, comparison) for pair, comparator in links])


def _compared(left: Scores, right: Scores, comparator: Comparator, comparison: ComparisonMode) -> Scores:
    more, less = (left, right) if comparator is Comparator.GREATER else (right, left)
    if comparison is ComparisonMode.VENDOR:
        return np.where(more > less, more, 0)
    return (more - less + 1) / 2
