"""Draws the pairs that the encoder is tuned on: what somebody asks or states, and the text that it is about."""

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from evals.training.texts import Passage, Texts, clause_categories, is_measured
from proviso_service.reading import Span

_ASKING = ("plain", "lawyer", "topic", "true", "short")
_MAX_OF_TITLE = 40
_MIN_TITLE_CHARS = 4
_PLAIN_TITLES = frozenset(
    (
        "agreement",
        "general",
        "miscellaneous",
        "definitions",
        "background",
        "source",
        "table of contents",
        "recitals",
        "scope",
    )
)
_RUN_PAIRS = 8
_WRONG_OF = 8
_LESS_NEAR = 0.95


@dataclass(frozen=True, slots=True)
class Pair:
    """`asked` are the keys of what the query asks for, and `held` those of what the text holds: a text is no wrong
    answer to the query of another pair where they have a key in common. `wrong` is a text of the same contract that is
    near the query and does not answer it, where there is one, and `wrongly_held` are its keys."""

    contract: str
    query: str
    text: str
    asked: frozenset[str]
    held: frozenset[str]
    wrong: str = ""
    wrongly_held: frozenset[str] = frozenset()


class NearSentences(Protocol):
    """The sentences of contracts and their vectors, as an encoder has them (`nearest.Nearest`)."""

    @property
    def vectors(self) -> Mapping[str, NDArray[np.float32]]: ...

    @property
    def sentences(self) -> Mapping[str, Sequence[tuple[Passage, str]]]: ...

    def embedded(self, texts: Sequence[str]) -> NDArray[np.float32]: ...


class PairSource:
    """Draws pairs from the tuned contracts; every epoch draws others. `every_category` tells whether the categories
    that figures are measured with are tuned on as well."""

    def __init__(self, texts: Texts, *, every_category: bool, contracts: float = 1.0) -> None:
        self._texts = texts
        names = sorted(texts.split.tuned)
        self._passages = texts.passages(names[: round(contracts * len(names))])
        self._by_contract: dict[str, list[Passage]] = defaultdict(list)
        for passage in self._passages:
            self._by_contract[passage.contract].append(passage)
        self._measured = frozenset(filter(is_measured, clause_categories(texts.questions)))
        self._left_out = frozenset() if every_category else self._measured
        self._categories = [name for name in clause_categories(texts.questions) if name not in self._left_out]
        self._evidence: dict[int, set[str]] = defaultdict(set)
        self._places = self._placed()

    @property
    def measured(self) -> frozenset[str]:
        """The categories that figures are measured with."""
        return self._measured

    @property
    def left_out(self) -> frozenset[str]:
        """Those of them that are not tuned on."""
        return self._left_out

    @property
    def categories(self) -> Sequence[str]:
        """The categories that are tuned on."""
        return self._categories

    @property
    def passages(self) -> Sequence[Passage]:
        return self._passages

    @property
    def written(self) -> Sequence[tuple[Passage, Span, str, dict[str, str]]]:
        """The passage, place, sentence and written texts of each sentence about which there are some."""
        return self._places

    def passage_of(self, contract: str, span: Span) -> Passage | None:
        """The passage that holds most of a place."""
        found = max(self._by_contract.get(contract, ()), key=lambda one: _common(one.span, span), default=None)
        return found if found and _common(found.span, span) * 2 > span.end - span.start else None

    def _placed(self) -> list[tuple[Passage, Span, str, dict[str, str]]]:
        found = []
        for one in self._texts.written:
            passage = self.passage_of(one.contract, one.span)
            if passage is None or passage.categories & self._left_out:
                continue
            sentence = max(passage.sentences, key=lambda it: _common(it[0], one.span), default=None)
            if sentence is not None:
                found.append((passage, one.span, sentence[1], dict(one.texts)))
                self._evidence[id(passage)].add(_place_key(one.contract, one.span))
                self._evidence[id(passage)] |= _topic_key(one.texts)
        for contract, _, spans in self._texts.natural:
            for span in spans:
                passage = self.passage_of(contract, span)
                if passage:
                    self._evidence[id(passage)].add(_place_key(contract, span))
        return found

    def epoch(self, rng: random.Random, nearest: NearSentences, known_share: float) -> list[Pair]:
        """The pairs of one epoch in an order that brings some of the same contract together: these are the negatives
        that teach most, beside those that are `nearest`. `known_share` is the share drawn of all but what is about a
        category that figures are measured with."""
        drawn = [*self._of_headings(rng), *self._of_categories(rng), *self._of_natural(rng), *self._of_hypotheses(rng)]
        drawn += self._of_written(rng)
        measured = frozenset(f"category {name}" for name in self._measured)
        known = [pair for pair in drawn if not pair.held & measured]
        pairs = [pair for pair in drawn if pair.held & measured]
        pairs += rng.sample(known, round(known_share * len(known)))
        rng.shuffle(pairs)
        by_contract: dict[str, list[Pair]] = defaultdict(list)
        for pair in pairs:
            by_contract[pair.contract].append(pair)
        runs = [
            found[at : at + _RUN_PAIRS] for found in by_contract.values() for at in range(0, len(found), _RUN_PAIRS)
        ]
        rng.shuffle(runs)
        return self._with_wrong([pair for run in runs for pair in run], nearest, rng)

    def _with_wrong(self, pairs: Sequence[Pair], nearest: NearSentences, rng: random.Random) -> list[Pair]:
        """The pairs, each with one of the sentences, or its passage, that an encoder has nearest to the query of those
        that it has less near than the right text: what is nearer, or as near, may well answer it too."""
        by_contract: dict[str, list[int]] = defaultdict(list)
        for index, pair in enumerate(pairs):
            by_contract[pair.contract].append(index)
        found = list(pairs)
        for contract, indices in by_contract.items():
            sentences = nearest.sentences.get(contract, ())
            if not sentences:
                continue
            asked = nearest.embedded([pairs[index].query for index in indices])
            right = (asked * nearest.embedded([pairs[index].text for index in indices])).sum(axis=1)
            likeness = asked @ nearest.vectors[contract].T
            held = [self._held(passage) for passage, _ in sentences]
            for index, its_right, row in zip(indices, right, likeness, strict=True):
                order = np.argsort(-np.where(row < _LESS_NEAR * its_right, row, -1))[:_WRONG_OF]
                wrong = [at for at in order if row[at] < _LESS_NEAR * its_right and not held[at] & pairs[index].asked]
                if wrong:
                    at = rng.choice(wrong)
                    passage, sentence = sentences[at]
                    text = sentence if rng.random() < 0.5 else passage.text
                    found[index] = replace(pairs[index], wrong=text, wrongly_held=held[at])
        return found

    def _held(self, passage: Passage) -> frozenset[str]:
        titles = (f"title {title.lower()}" for title in passage.titles)
        categories = (f"category {name}" for name in passage.categories)
        return frozenset((*titles, *categories, *self._evidence[id(passage)]))

    def _of_written(self, rng: random.Random) -> Iterator[Pair]:
        for passage, span, sentence, texts in self._places:
            key = _place_key(passage.contract, span)
            for kind in _ASKING:
                if kind in texts:
                    text = sentence if rng.random() < 0.5 else passage.text
                    asked = _topic_key(texts) | {key} if kind == "topic" else frozenset((key,))
                    yield Pair(passage.contract, texts[kind], text, asked, self._held(passage) | {key})

    def _of_headings(self, rng: random.Random) -> Iterator[Pair]:
        by_title: dict[str, list[tuple[str, Passage]]] = defaultdict(list)
        for passage in self._passages:
            if passage.titles and not passage.categories & self._left_out:
                title = passage.titles[-1]
                if len(title) >= _MIN_TITLE_CHARS and title.lower() not in _PLAIN_TITLES:
                    by_title[title.lower()].append((title, passage))
        for key, found in by_title.items():
            wordings = self._texts.headings.get(key, ())
            for title, passage in rng.sample(found, min(len(found), _MAX_OF_TITLE)):
                query = rng.choice(wordings) if wordings and rng.random() < 0.6 else title
                text = _without_title(passage.text, title) if rng.random() < 0.7 else passage.text
                yield Pair(passage.contract, query, text, frozenset((f"title {key}",)), self._held(passage))

    def _of_categories(self, rng: random.Random) -> Iterator[Pair]:
        for passage in self._passages:
            for category in sorted(passage.categories & frozenset(self._categories)):
                query = rng.choice(self._texts.wordings[category])
                spans = [span for name, span in self._texts.spans[passage.contract] if name == category]
                sentences = [text for place, text in passage.sentences if any(_covers(place, one) for one in spans)]
                text = rng.choice(sentences) if sentences and rng.random() < 0.4 else passage.text
                yield Pair(passage.contract, query, text, frozenset((f"category {category}",)), self._held(passage))

    def _of_natural(self, rng: random.Random) -> Iterator[Pair]:
        for contract, question, spans in self._texts.natural:
            span = rng.choice(spans) if spans else None
            passage = self.passage_of(contract, span) if span else None
            if span is None or passage is None or passage.categories & self._left_out:
                continue
            sentences = [text for place, text in passage.sentences if _covers(place, span)]
            text = rng.choice(sentences) if sentences and rng.random() < 0.5 else passage.text
            keys = frozenset(_place_key(contract, one) for one in spans)
            yield Pair(contract, question, text, keys, self._held(passage) | keys)

    def _of_hypotheses(self, rng: random.Random) -> Iterator[Pair]:
        for one in self._texts.entailments(held_out=False):
            if one.deciding:
                wordings = [self._texts.hypothesis_text(one.key), *self._texts.hypotheses[one.key]["same"]]
                key = frozenset((f"hypothesis {one.key}",))
                yield Pair(one.agreement, rng.choice(wordings), one.sentences[rng.choice(one.deciding)], key, key)


def _without_title(text: str, title: str) -> str:
    at = text.lower().find(title.lower())
    return text[at + len(title) :].lstrip(" .:-") if 0 <= at < 20 and len(text) - at - len(title) > 40 else text


def _covers(place: Span, span: Span) -> bool:
    return _common(place, span) * 2 >= min(place.end - place.start, span.end - span.start) > 0


def _common(one: Span, other: Span) -> int:
    return max(0, min(one.end, other.end) - max(one.start, other.start))


def _place_key(contract: str, span: Span) -> str:
    return f"{contract} {span.start}"


def _topic_key(texts: Mapping[str, str]) -> frozenset[str]:
    """Many a sentence is about what others are about, in the same words."""
    return frozenset((f"topic {texts['topic'].lower()}",)) if "topic" in texts else frozenset()
