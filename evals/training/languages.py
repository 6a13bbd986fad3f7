"""Teaches the encoder of other languages the space of the English one: a text in English gets the vector that the
English encoder gives it, and so does its translation."""

import random
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor
from torch.nn import functional

from evals.training.bert import Arrays, Bert
from evals.training.descent import Say, Tokens, descend, vectors
from evals.training.texts import Texts
from proviso_service.embedded.judge import MAX_TEXT_TOKENS

_BATCH = 64
_RATE = 3e-4
_SCALE = 20.0
_NEARNESS_WEIGHT = 4.0
_TRANSLATED_SHARE = 0.5
_SENTENCES, _PASSAGES = 45, 10
"""Most sentences and passages of a contract that are learnt from."""

_MOST_PASSAGE_CHARS = 900
_LEAST_CHARS = 25
_WRITTEN = ("plain", "lawyer", "true", "short", "miss")
_MOST_WRITTEN = 5_000
_TEXTS_AT_ONCE = 64

Pair = tuple[str, str]
"""A text, and the English one whose vector it is to have."""


def tune(
    student: Bert,
    tokens: Tokens,
    texts: Texts,
    teacher: Bert,
    teacher_tokens: Tokens,
    steps: int,
    seed: int,
    say: Say,
) -> None:
    """Tunes the student in place. `tokens` are those of the student."""
    english, translated = _english(texts, random.Random(seed)), texts.translations  # noqa: S311
    taught = _taught(teacher, teacher_tokens, [meant for _, meant in (*english, *translated)])
    say(f"{len(english)} texts in English, {len(translated)} translations")

    def draw(rng: random.Random) -> list[Pair]:
        count = round(_TRANSLATED_SHARE * _BATCH * steps)
        drawn = [*rng.choices(translated, k=count), *rng.choices(english, k=_BATCH * steps - count)]
        rng.shuffle(drawn)
        return drawn

    def loss(batch: Sequence[Pair]) -> Tensor:
        own = vectors(student, [tokens(text)[:MAX_TEXT_TOKENS] for text, _ in batch])
        wanted = torch.stack([taught[meant] for _, meant in batch]).to(own.device)
        likeness = _SCALE * own @ wanted.T
        same = torch.tensor([[one[1] == other[1] for other in batch] for one in batch])
        same.fill_diagonal_(False)
        likeness = likeness.masked_fill(same.to(likeness.device), -1e4)
        right = torch.arange(len(batch)).to(likeness.device)
        apart = (1 - (own * wanted).sum(dim=1)).mean()
        return _NEARNESS_WEIGHT * apart + functional.cross_entropy(likeness, right)

    descend(student, draw, loss, _BATCH, 1, seed, say, rate=_RATE)


def _english(texts: Texts, rng: random.Random) -> list[Pair]:
    found: list[str] = []
    for name in sorted(texts.split.tuned):
        passages = texts.passages([name])
        sentences = [text for one in passages for _, text in one.sentences if len(text) >= _LEAST_CHARS]
        short = [one.text for one in passages if len(one.text) < _MOST_PASSAGE_CHARS]
        found += rng.sample(sentences, min(len(sentences), _SENTENCES))
        found += rng.sample(short, min(len(short), _PASSAGES))
    written = [one.texts[kind] for one in texts.written for kind in _WRITTEN if kind in one.texts]
    found += [*rng.sample(written, min(len(written), _MOST_WRITTEN)), *texts.others]
    return [(text, text) for text in found]


def _taught(teacher: Bert, tokens: Tokens, texts: Sequence[str]) -> Mapping[str, Tensor]:
    unique = sorted(set(texts))
    found: list[Tensor] = []
    with torch.no_grad():
        for at in range(0, len(unique), _TEXTS_AT_ONCE):
            found += vectors(teacher, [tokens(text) for text in unique[at : at + _TEXTS_AT_ONCE]]).cpu()
    return dict(zip(unique, found, strict=True))


def one_segment(weights: Arrays) -> Arrays:
    """Returns the weights with one vector for both segments: the separator of pairs is a word in this vocabulary."""
    segments = weights["embeddings.token_type_embeddings.weight"]
    return {**weights, "embeddings.token_type_embeddings.weight": segments[:1].repeat(2, axis=0)}
