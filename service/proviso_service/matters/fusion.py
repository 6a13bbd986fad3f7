"""Reciprocal rank fusion: one order out of several."""

from dataclasses import dataclass

RANK_OFFSET = 10
"""The smaller, the more the first ranks stand out. Measured on labelled contracts, anything from 5 to 60 finds as much
among the first five and ten; smaller ones put the right passage first a little more often (evals/README.md)."""

CLAUSE_WEIGHT = 1.0
"""Of the order by clause numbers: the clause that a query names is worth as much as the passage that is first by its
meaning and by its words. Both together weigh 1."""


@dataclass(frozen=True, slots=True)
class Ranks:
    """Where a passage stands in each order, from 0; None where it does not appear."""

    meaning: int | None
    words: int | None
    clause: int | None = None


def fused_score(ranks: Ranks, semantic_weight: float) -> float:
    """Higher is better; `semantic_weight` of meaning against words, in [0, 1]."""
    return (
        _part(ranks.meaning, semantic_weight)
        + _part(ranks.words, 1 - semantic_weight)
        + _part(ranks.clause, CLAUSE_WEIGHT)
    )


def clause_first_score(ranks: Ranks, semantic_weight: float, clause_ranks: int) -> float:
    """For a query that asks for clauses and for nothing else: their order is by clause numbers, of which there are so
    many ranks; meaning and words only decide between equals."""
    rest = fused_score(Ranks(ranks.meaning, ranks.words), semantic_weight)
    # A step is more than meaning and words can add up to.
    step = 2 / (RANK_OFFSET + 1)
    return rest + (0.0 if ranks.clause is None else (clause_ranks - ranks.clause) * step)


def _part(rank: int | None, weight: float) -> float:
    return 0.0 if rank is None else weight / (RANK_OFFSET + 1 + rank)
