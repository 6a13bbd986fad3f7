"""Finds the sentences of a contract that an encoder has nearest to what is asked: those that do not answer it are the
wrong answers that teach most."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from evals.training.bert import Bert
from evals.training.descent import Tokens, vectors
from evals.training.texts import Passage
from proviso_service.embedded.judge import MAX_TEXT_TOKENS

_AT_ONCE = 512

Placed = tuple[Passage, str]
"""A sentence and its passage."""


class Nearest:
    """The sentences of contracts and their vectors, as the encoder was when this was made."""

    def __init__(self, passages: Iterable[Passage], encoder: Bert, tokens: Tokens) -> None:
        self._encoder = encoder
        self._tokens = tokens
        found: dict[str, list[Placed]] = defaultdict(list)
        for passage in passages:
            found[passage.contract].extend((passage, text) for _, text in passage.sentences)
        self._sentences = {name: sentences for name, sentences in found.items() if sentences}
        self.vectors: Mapping[str, NDArray[np.float32]] = {
            name: self.embedded([text for _, text in sentences]) for name, sentences in self._sentences.items()
        }

    @property
    def sentences(self) -> Mapping[str, Sequence[Placed]]:
        """The sentences of each contract that has any."""
        return self._sentences

    def embedded(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, of shape (texts, width)."""
        with torch.no_grad():
            found = [
                vectors(self._encoder, [self._tokens(text)[:MAX_TEXT_TOKENS] for text in texts[at : at + _AT_ONCE]])
                for at in range(0, len(texts), _AT_ONCE)
            ]
        return np.concatenate([one.cpu().numpy() for one in found])

    def near(self, contract: str, queries: Sequence[str], count: int) -> list[list[Placed]]:
        """The sentences of the contract that are nearest to each query, nearest first."""
        best = np.argsort(-self.embedded(queries) @ self.vectors[contract].T, axis=1)[:, :count]
        return [[self._sentences[contract][index] for index in row] for row in best]
