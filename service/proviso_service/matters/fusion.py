"""Reciprocal rank fusion: one order out of two."""

RANK_OFFSET = 60
"""The larger, the less the first ranks stand out; the value of the method's authors (Cormack and others, 2009)."""


def fused_score(semantic_rank: int, lexical_rank: int | None, semantic_weight: float) -> float:
    """Higher is better. Ranks count from 0; a passage without a lexical rank gets nothing for its words."""
    by_meaning = semantic_weight / (RANK_OFFSET + 1 + semantic_rank)
    by_words = 0.0 if lexical_rank is None else (1 - semantic_weight) / (RANK_OFFSET + 1 + lexical_rank)
    return by_meaning + by_words
