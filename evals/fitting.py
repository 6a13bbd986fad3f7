"""Fits the classifier's numbers: word statistics and topics come from the contracts' headings without labels, the
weights from labels."""

import json
import re
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evals.corpus import Corpus
from proviso_service.embedded.classifier.conflicts import conflicts
from proviso_service.embedded.classifier.features import NAMES
from proviso_service.embedded.classifier.fitted import (
    FittedClassifier,
    Head,
    HeadingTopics,
    JudgedHead,
    WordStatistics,
    from_bytes,
    logits_of,
    to_bytes,
)
from proviso_service.embedded.classifier.model import StatementScorer, judged_margins
from proviso_service.embedded.classifier.statements import asserts, understand, wordings
from proviso_service.embedded.classifier.words import Stemmer, titles_of
from proviso_service.embedded.judge import Judge
from proviso_service.models import Embedder, Vectors
from proviso_service.reading import readable

Floats = NDArray[np.float64]

_MIN_PASSAGES = 4
_UNKNOWN_PASSAGES = 100
"""An unknown word counts as one of so many passages: it may be a name that matters, or an abbreviation that nobody
writes in a contract."""
_MIN_CONTRACTS = 4
_MIN_TOPIC_CONTRACTS = 3
_COMPANIONS = 20
_MIN_LIFT = 0.7
_MAX_TITLE_CHARS = 70
_HEADING_FRAME = "the of and or to for in on by with a an without section article agreement"
_RIDGE = 3e-3
_STEPS = 60
_SEED = 20_260
_MATTER_CONTRACTS = 16
_MATTERS = 6
_STATED = Path(__file__).with_name("stated.jsonl")
_STATED_PASSAGES = 10
_OTHER_WEIGHT = 0.05
"""The weight of passages that a statement was not written about: some support it all the same."""


def word_statistics(corpus: Corpus, stemmer: Stemmer) -> WordStatistics:
    """How rare each word is, counted by passages, and which other words are typical of passages below a heading with
    the word; for these each contract has the same weight."""
    texts = [set(stemmer.words(passage.text)) for passage in corpus.passages]
    count: dict[int, int] = defaultdict(int)
    for words in texts:
        for word in words:
            count[word] += 1
    size = len(texts)
    rarity = {
        word: float(np.log(1 + (size - n + 0.5) / (n + 0.5))) for word, n in sorted(count.items()) if n >= _MIN_PASSAGES
    }
    base = {word: count[word] / size for word in rarity}
    rare = min(size, _UNKNOWN_PASSAGES)
    unknown = float(np.log(1 + (size - rare + 0.5) / (rare + 0.5)))
    return WordStatistics(rarity, unknown, dict(_companions(corpus, texts, base, stemmer)))


def _companions(
    corpus: Corpus, texts: Sequence[set[int]], base: Mapping[int, float], stemmer: Stemmer
) -> Iterable[tuple[int, tuple[tuple[int, float], ...]]]:
    frame = set(stemmer.words(_HEADING_FRAME))
    under: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for index, passage in enumerate(corpus.passages):
        titles = [title for title in titles_of(passage) if len(title) < _MAX_TITLE_CHARS]
        for word in set(stemmer.words(" ".join(titles))) - frame:
            under[word][corpus.contracts[index]].append(index)
    for word, contracts in sorted(under.items()):
        if word in base and len(contracts) >= _MIN_CONTRACTS:
            yield word, tuple(_most_telling(contracts, texts, base))


def _most_telling(
    contracts: Mapping[str, Sequence[int]], texts: Sequence[set[int]], base: Mapping[int, float]
) -> list[tuple[int, float]]:
    share: dict[int, float] = defaultdict(float)
    spread: dict[int, int] = defaultdict(int)
    for passages in contracts.values():
        seen: dict[int, int] = defaultdict(int)
        for index in passages:
            for word in texts[index]:
                seen[word] += 1
        for word, n in seen.items():
            share[word] += n / len(passages)
            spread[word] += 1
    found = []
    for word, total in share.items():
        if word not in base or spread[word] < max(3, 0.1 * len(contracts)):
            continue
        smooth = (total + 2 * base[word]) / (len(contracts) + 2)
        lift = float(np.log(smooth / (base[word] + 1e-4)))
        if lift >= _MIN_LIFT:
            found.append((lift * smooth**0.5, word, smooth))
    return [(word, smooth) for _, word, smooth in sorted(found, reverse=True)[:_COMPANIONS]]


def topic_titles(corpus: Corpus, stemmer: Stemmer) -> dict[str, dict[str, list[int]]]:
    """The passages below each title, by contract. A title is spelled as it is most often, and has to occur in several
    contracts."""
    frame = set(stemmer.words(_HEADING_FRAME))
    groups: dict[tuple[int, ...], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    written: dict[tuple[int, ...], dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for index, passage in enumerate(corpus.passages):
        for title in set(titles_of(passage)):
            name = re.sub(
                r"^\W*(?:(?:article|section)\s+)?(?:[\divxlc]+[.)\-:]|[\d.]+)*[\s.:\-]*", "", title, flags=re.IGNORECASE
            )
            key = tuple(word for word in stemmer.words(name) if word not in frame)
            if key and len(name) < _MAX_TITLE_CHARS:
                groups[key][corpus.contracts[index]].append(index)
                written[key][name.strip(" .:").title()] += 1
    return {
        max(sorted(written[key]), key=written[key].__getitem__): contracts
        for key, contracts in sorted(groups.items())
        if len(contracts) >= _MIN_TOPIC_CONTRACTS
    }


def topics(corpus: Corpus, titles: Mapping[str, Mapping[str, Sequence[int]]], keys: Vectors) -> HeadingTopics:
    """The topics that the classifier ships. `keys` are the vectors of the titles."""
    mean = corpus.vectors.mean(axis=0)
    values = [
        np.mean([corpus.vectors[list(passages)].mean(axis=0) for passages in contracts.values()], axis=0) - mean
        for contracts in titles.values()
    ]
    weights = np.log1p([len(contracts) for contracts in titles.values()])
    return HeadingTopics(mean, keys, np.stack(values), weights.astype(np.float32))


class Sample:
    """Features of passages with labels and weights, by category. Passages that were left out are represented by the
    weights of others."""

    def __init__(self) -> None:
        self.rows: list[Floats] = []
        self.labels: list[NDArray[np.bool_]] = []
        self.weights: list[Floats] = []
        self.categories: list[str] = []

    def add(self, category: str, features: Floats, labels: NDArray[np.bool_], rng: np.random.Generator) -> None:
        """Adds a category's passages to the sample: all marked ones, the unmarked ones that look most like them, and
        some of the other unmarked ones, weighted to stand for all of these."""
        likely = features[:, _LIKELY].sum(axis=1)
        negatives = np.flatnonzero(~labels)
        hard_count = min(len(negatives), 4 * int(labels.sum()) + 200)
        hardest = np.argpartition(-likely[negatives], hard_count - 1)[:hard_count]
        hard = negatives[hardest]
        others = np.delete(negatives, hardest)
        drawn = rng.choice(others, min(len(others), 500), replace=False)
        weights = np.ones(len(features))
        weights[drawn] = len(others) / max(1, len(drawn))
        rows = np.concatenate([np.flatnonzero(labels), hard, drawn])
        self.rows.append(features[rows])
        self.labels.append(labels[rows])
        self.weights.append(weights[rows] / labels.sum() ** 0.5)
        self.categories.append(category)

    def only(self, categories: Container[str]) -> tuple[Floats, NDArray[np.bool_], Floats]:
        chosen = [index for index, category in enumerate(self.categories) if category in categories]
        return (
            np.concatenate([self.rows[index] for index in chosen]),
            np.concatenate([self.labels[index] for index in chosen]),
            np.concatenate([self.weights[index] for index in chosen]),
        )


_LIKELY = [NAMES.index(name) for name in ("cosine", "topic", "widened bm25", "concept")]
_POSITIVE_WEIGHT, _JUDGED_WEIGHT = 7.0, 2.0
"""The weight of a marked passage, and of one that is judged. Not everything that fulfils a statement is marked: of
forty matches that were not, eight did when they were read. What is not judged, as in other languages than English,
would hardly ever come above 0.5 with the lower one."""


def fit_head(sample: Sample, folds: int = 5) -> Head:
    """Fits the weights on the whole sample. Their calibration is fitted on scores of categories that the weights behind
    these scores have not seen."""
    categories = sorted(set(sample.categories))
    logits, labels, weights = [], [], []
    for fold in range(folds):
        left_out = set(categories[fold::folds])
        if not left_out or len(left_out) == len(categories):
            continue
        coefficients, bias = logistic(*sample.only(set(categories) - left_out))
        rows, truth, weight = sample.only(left_out)
        logits.append(rows @ coefficients + bias)
        labels.append(truth)
        weights.append(np.where(truth, _POSITIVE_WEIGHT, 1.0) * weight)
    slope, shift = logistic(np.concatenate(logits)[:, None], np.concatenate(labels), np.concatenate(weights))
    coefficients, bias = logistic(*sample.only(categories))
    return Head(coefficients, bias, float(slope[0]), shift)


def logistic(
    rows: Floats, labels: NDArray[np.bool_], weights: Floats, ridge_share: float = _RIDGE
) -> tuple[Floats, float]:
    """Logistic regression by Newton's method, on standardised features and with a ridge penalty."""
    mean, scale = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    x = np.column_stack([(rows - mean) / scale, np.ones(len(rows))])
    share = weights / weights.sum()
    ridge = np.full(x.shape[1], ridge_share * share[labels].sum())
    ridge[-1] = 0
    w = np.zeros(x.shape[1])
    w[-1] = np.log(share[labels].sum() / share[~labels].sum())
    loss = _loss(x, labels, share, ridge, w)
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-np.clip(x @ w, -30, 30)))
        gradient = x.T @ (share * (p - labels)) + ridge * w
        hessian = (x * (share * p * (1 - p))[:, None]).T @ x + np.diag(ridge + 1e-12)
        step = np.linalg.solve(hessian, gradient)
        while np.abs(step).max() > 1e-7 and _loss(x, labels, share, ridge, w - step) > loss:
            step /= 2
        w -= step
        loss = _loss(x, labels, share, ridge, w)
        if np.abs(step).max() <= 1e-7:
            break
    return w[:-1] / scale, float(w[-1] - (w[:-1] * mean / scale).sum())


def _loss(x: Floats, labels: NDArray[np.bool_], share: Floats, ridge: Floats, w: Floats) -> float:
    logit = x @ w
    return float((share * (np.logaddexp(0, logit) - labels * logit)).sum() + (ridge * w * w).sum() / 2)


async def fit_judged(
    corpus: Corpus,
    labelled: Corpus,
    statements: Mapping[str, Sequence[str]],
    embedder: Embedder,
    judge: Judge,
    most: int,
) -> tuple[JudgedHead, JudgedHead]:
    """Fits how scores and what the judge says make one score: of what asks or names something on the `most` likeliest
    passages of each category in groups of contracts (matters, as it were), and of what asserts something on
    statements that a sentence of a contract supports or contradicts. The scores are those of classifiers that have
    not seen the category. Only the `labelled` part of the corpus counts, as for `fit`."""
    rng = np.random.default_rng(_SEED)
    names = sorted(set(labelled.contracts))
    rng.shuffle(names)
    groups = [set(names[at : at + _MATTER_CONTRACTS]) for at in range(0, len(names), _MATTER_CONTRACTS)][:_MATTERS]
    parts = [labelled.part(np.array([name in group for name in labelled.contracts])) for group in groups]
    asked, asserted = _Examples(), _Examples()
    for half in (0, 1):
        chosen = sorted(statements)[half::2]
        others = {name: texts for name, texts in statements.items() if name not in chosen}
        scorer = StatementScorer(await fit(corpus, others, embedder, labelled))
        for category in chosen:
            for part in (part for part in parts if part.labels[category].any()):
                text = str(rng.choice([one for one in statements[category] if not asserts(one)]))
                scores = await _scores(scorer, embedder, text, part)
                best = np.argsort(-scores, kind="stable")[:most]
                right = part.labels[category][best]
                rows = await _judged(text, part, best, scores, judge)
                asked.add(rows, right, np.where(right, _JUDGED_WEIGHT, 1.0))
        for one in stated_lines()[half::2]:
            place = holder(labelled, one)
            if place is None or not (asserts(one.true) and asserts(one.false)):
                continue
            whole = np.array([name == one.contract for name in labelled.contracts])
            held, part = place - int(np.flatnonzero(whole)[0]), labelled.part(whole)
            for text, is_true in ((one.true, True), (one.false, False)):
                scores = await _scores(scorer, embedder, text, part)
                best = np.union1d(np.argsort(-scores, kind="stable")[:_STATED_PASSAGES], [held])
                rows = await _judged(text, part, best, scores, judge)
                asserted.add(rows, (best == held) & is_true, np.where(best == held, 1.0, _OTHER_WEIGHT))
    return asked.fitted(), asserted.fitted()


class _Examples:
    """What was judged, with labels and weights."""

    def __init__(self) -> None:
        self._rows: list[Floats] = []
        self._labels: list[NDArray[np.bool_]] = []
        self._weights: list[Floats] = []

    def add(self, rows: Floats, labels: NDArray[np.bool_], weights: Floats) -> None:
        self._rows.append(rows)
        self._labels.append(labels)
        self._weights.append(weights)

    def fitted(self) -> JudgedHead:
        given = np.concatenate(self._rows), np.concatenate(self._labels), np.concatenate(self._weights)
        (score, margin, conflict), shift = logistic(*given)
        return JudgedHead(float(score), float(margin), shift, -float(conflict))


async def _scores(scorer: StatementScorer, embedder: Embedder, text: str, part: Corpus) -> Floats:
    statement = understand(text)
    meant = await embedder.embed_documents(wordings(statement))
    return scorer.score(statement, list(meant), part.passages, part.vectors).astype(np.float64)


async def _judged(text: str, part: Corpus, best: NDArray[np.intp], scores: Floats, judge: Judge) -> Floats:
    """The features of judged passages, in the order of the numbers of JudgedHead."""
    texts = [readable(part.passages[index].text) for index in best.tolist()]
    margins = await judged_margins(judge, text, texts)
    return np.column_stack([logits_of(scores[best]), margins, conflicts(text, texts)])


@dataclass(frozen=True, slots=True)
class Stated:
    """A sentence of a contract, and two statements: it supports one and contradicts the other."""

    contract: str
    sentence: str
    true: str
    false: str


def stated_lines() -> list[Stated]:
    return [Stated(**json.loads(line)) for line in _STATED.read_text(encoding="utf-8").splitlines()]


def holder(corpus: Corpus, one: Stated) -> int | None:
    """The number of the passage that holds the sentence."""
    places = (index for index, name in enumerate(corpus.contracts) if name == one.contract)
    return next((index for index in places if one.sentence in readable(corpus.passages[index].text)), None)


async def fit(
    corpus: Corpus, statements: Mapping[str, Sequence[str]], embedder: Embedder, labelled: Corpus | None = None
) -> FittedClassifier:
    """Fits all numbers of the classifier. `statements` are those that the weights are fitted on, by category, and
    `labelled` the part of the corpus whose labels these see: contracts that the encoder was not tuned on, where there
    are some, for it is surer of the others than it should be."""
    labelled = labelled or corpus
    stemmer = Stemmer()
    words = word_statistics(corpus, stemmer)
    titles = topic_titles(corpus, stemmer)
    found = topics(corpus, titles, await embedder.embed_documents(list(titles)))
    blank = FittedClassifier(words, found, Head(np.zeros(len(NAMES)), 0.0, 1.0, 0.0))
    # What is shipped is rounded: the head is fitted to that.
    scorer = StatementScorer(from_bytes(to_bytes(blank)))
    sample, rng = Sample(), np.random.default_rng(_SEED)
    for category, texts in statements.items():
        if labelled.labels[category].any():
            for text, vector in zip(texts, await embedder.embed_documents(texts), strict=True):
                rows = scorer.features(text, vector, labelled.passages, labelled.vectors)
                sample.add(category, rows, labelled.labels[category], rng)
    return FittedClassifier(words, found, fit_head(sample))
