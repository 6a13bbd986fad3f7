"""Tunes the sentence encoder: what is asked and the text that it is about come near each other."""

import random
from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.nn import functional

from evals.training.bert import Bert
from evals.training.descent import Say, Tokens, descend, vectors
from evals.training.pairs import Pair
from proviso_service.embedded.judge import MAX_QUERY_TOKENS, MAX_TEXT_TOKENS

_BATCH = 64
_SCALE = 20.0
_OTHERS = 12
_KEPT_WEIGHT = 2.0


def tune(
    bert: Bert,
    draw: Callable[[random.Random], list[Pair]],
    others: Sequence[str],
    tokens: Tokens,
    epochs: int,
    seed: int,
    say: Say,
) -> None:
    """Tunes the encoder in place by the contrast of each pair with the others of its batch, both ways. `others` are
    texts that have nothing to do with contracts: some are wrong queries of every batch, and their vectors stay where
    they are, so that the encoder keeps telling them apart and still knows what they mean."""
    rng = random.Random(seed)  # noqa: S311
    texts = [tokens(text)[:MAX_QUERY_TOKENS] for text in others]
    with torch.no_grad():
        kept = torch.cat([vectors(bert, texts[at : at + _BATCH]) for at in range(0, len(texts), _BATCH)])

    def loss(batch: Sequence[Pair]) -> Tensor:
        drawn = rng.sample(range(len(texts)), _OTHERS)
        apart = vectors(bert, [texts[index] for index in drawn])
        moved = (1 - (apart * kept[drawn]).sum(dim=1)).mean()
        return _contrast(bert, batch, apart, tokens) + _KEPT_WEIGHT * moved

    descend(bert, draw, loss, _BATCH, epochs, seed, say)


def _contrast(bert: Bert, batch: Sequence[Pair], apart: Tensor, tokens: Tokens) -> Tensor:
    asked = vectors(bert, [tokens(pair.query)[:MAX_QUERY_TOKENS] for pair in batch])
    texts = [(pair.text, pair.held) for pair in batch]
    texts += [(pair.wrong, pair.wrongly_held) for pair in batch if pair.wrong]
    held = vectors(bert, [tokens(text)[:MAX_TEXT_TOKENS] for text, _ in texts])
    right = torch.arange(len(batch))
    no_negative = torch.tensor([[bool(one.asked & keys) for _, keys in texts] for one in batch])
    no_negative[right, right] = False
    likeness = (_SCALE * asked @ held.T).masked_fill(no_negative.to(held.device), -1e4)
    right = right.to(held.device)
    held = held[: len(batch)]
    of_held = torch.cat((likeness[:, : len(batch)].T, _SCALE * held @ apart.T), dim=1)
    return (functional.cross_entropy(likeness, right) + functional.cross_entropy(of_held, right)) / 2
