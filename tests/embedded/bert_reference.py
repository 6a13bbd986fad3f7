"""The sentence encoder and the judge in float32 numpy, written from the definition of BERT: what the ONNX model is held
against."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from proviso_service.embedded.bert_graph import SEPARATOR, Weights

Floats = NDArray[np.float32]

HEADS = 12


def embed(weights: Weights, ids: Sequence[int]) -> Floats:
    """The unit vector of one text, from its token ids."""
    mean = _states(weights, ids).mean(axis=0)
    unit: Floats = mean / np.linalg.norm(mean)
    return unit


def judge(weights: Weights, ids: Sequence[int]) -> Floats:
    """The logits of the verdicts on one pair, from its token ids. What follows the first separator is another
    segment."""
    seen = np.tanh(_dense(weights, "judge.dense", _states(weights, ids, list(ids).index(SEPARATOR) + 1)[:1]))
    logits: Floats = _dense(weights, "judge.verdicts", seen)[0]
    return logits


def _states(weights: Weights, ids: Sequence[int], first_segment: int | None = None) -> Floats:
    segments = np.zeros(len(ids), dtype=int)
    segments[first_segment or len(ids) :] = 1
    hidden: Floats = (
        weights["embeddings.word_embeddings.weight"][list(ids)]
        + weights["embeddings.position_embeddings.weight"][: len(ids)]
        + weights["embeddings.token_type_embeddings.weight"][segments]
    )
    hidden = _norm(weights, "embeddings.LayerNorm", hidden)
    layers = 1 + max(int(name.split(".")[2]) for name in weights if name.startswith("encoder."))
    for layer in range(layers):
        hidden = _layer(weights, f"encoder.layer.{layer}", hidden)
    return hidden


def _layer(weights: Weights, name: str, hidden: Floats) -> Floats:
    attended = _dense(weights, f"{name}.attention.output.dense", _attention(weights, f"{name}.attention.self", hidden))
    hidden = _norm(weights, f"{name}.attention.output.LayerNorm", hidden + attended)
    inner = _dense(weights, f"{name}.intermediate.dense", hidden)
    activated = (inner * (_erf(inner / math.sqrt(2)) + 1) / 2).astype(np.float32)
    return _norm(weights, f"{name}.output.LayerNorm", hidden + _dense(weights, f"{name}.output.dense", activated))


def _attention(weights: Weights, name: str, hidden: Floats) -> Floats:
    query, key, value = (_dense(weights, f"{name}.{part}", hidden) for part in ("query", "key", "value"))
    width = hidden.shape[1] // HEADS
    mixed = []
    for start in range(0, hidden.shape[1], width):
        part = slice(start, start + width)
        scores = query[:, part] @ key[:, part].T / math.sqrt(width)
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        mixed.append(shares / shares.sum(axis=1, keepdims=True) @ value[:, part])
    return np.concatenate(mixed, axis=1)


def _erf(value: Floats) -> Floats:
    """Abramowitz and Stegun 7.1.26, right to 1.5e-7."""
    t = 1 / (1 + 0.3275911 * np.abs(value))
    tail = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return (np.sign(value) * (1 - tail * np.exp(-(value**2)))).astype(np.float32)


def _dense(weights: Weights, name: str, value: Floats) -> Floats:
    product: Floats = value @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]
    return product


def _norm(weights: Weights, name: str, value: Floats) -> Floats:
    centred = value - value.mean(axis=1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-12)
    normed: Floats = scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]
    return normed
