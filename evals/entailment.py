"""Measures on ContractNLI whether the classifier finds the sentences that decide a hypothesis, and whether its score
tells if the contract entails the hypothesis."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evals.classifier_figures import THRESHOLD, WAYS, average_precision
from evals.data import DataProblem
from proviso_service.embedded.classifier.features import NAMES
from proviso_service.embedded.classifier.model import StatementScorer
from proviso_service.embedded.classifier.statements import understand, wordings
from proviso_service.models import Embedder, ModelPassage
from proviso_service.reading import readable


@dataclass(frozen=True, slots=True)
class Entailment:
    """`mean_average_precision` is that of the spans that decide a hypothesis, among all spans of their contract, by
    WAYS. A contract counts as entailing a hypothesis when one of its spans scores above 0.5; `accuracy` is that of this
    rule and that of always giving the more frequent answer."""

    decided: int
    mean_average_precision: tuple[float, ...]
    pairs: int
    accuracy: float
    commoner_answer: float

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def text(self) -> str:
        by_way = ", ".join(f"{way} {value:.3f}" for way, value in zip(WAYS, self.mean_average_precision, strict=True))
        return (
            f"Mean average precision of the deciding spans ({self.decided} hypotheses on contracts): {by_way}.\n"
            f"Entailed or not ({self.pairs} pairs): accuracy {self.accuracy:.3f}, commoner answer"
            f" {self.commoner_answer:.3f}."
        )


async def measure_entailment(scorer: StatementScorer, embedder: Embedder, path: Path) -> Entailment:
    """The figures of the data set in a file. Raises DataProblem."""
    content = await asyncio.to_thread(_read, path)
    hypotheses = {key: label["hypothesis"] for key, label in content["labels"].items()}
    precisions: list[Sequence[float]] = []
    entailed, said = [], []
    for document in content["documents"]:
        passages = [ModelPassage(document["text"][start:end]) for start, end in document["spans"]]
        vectors = await embedder.embed_documents([readable(passage.text) for passage in passages])
        for key, annotation in document["annotation_sets"][0]["annotations"].items():
            understood = understand(hypotheses[key])
            meant = await embedder.embed_documents(wordings(understood))
            scores = scorer.score(understood, list(meant), passages, vectors).astype(np.float64)
            entailed.append(annotation["choice"] == "Entailment")
            said.append(bool(scores.max() > THRESHOLD))
            if annotation["spans"]:
                words = scorer.features(hypotheses[key], meant[0], passages, vectors)[:, NAMES.index("bm25")]
                marked = np.zeros(len(passages), dtype=bool)
                marked[annotation["spans"]] = True
                rankings = (scores, words, (vectors @ meant[0]).astype(np.float64))
                precisions.append([average_precision(marked, ranking) for ranking in rankings])
    share = float(np.mean(entailed))
    return Entailment(
        len(precisions),
        tuple(float(value) for value in np.mean(precisions, axis=0)),
        len(entailed),
        float(np.mean(np.array(entailed) == np.array(said))),
        max(share, 1 - share),
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise DataProblem(f"{path} cannot be read: {error}") from error
    return content
