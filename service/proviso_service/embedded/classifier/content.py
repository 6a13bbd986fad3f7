"""Reads what a statement about content asks for: words with their weights, and concepts, which are what clauses of
contracts usually say. The concepts stand in `concepts.toml`."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from importlib import resources
from itertools import pairwise

import numpy as np

from proviso_service.embedded.classifier.fitted import WordStatistics
from proviso_service.embedded.classifier.matching import Floats, WeightedWords, WordPositions, find, phrase_holders
from proviso_service.embedded.classifier.words import Phrase, Stemmer, Words, distinct, parse_phrase
from proviso_service.reading import STATEMENT_STOP_WORDS

_FILE = "concepts.toml"
_SURENESS = {"strong": 0.75, "likely": 0.4, "against": 0.5}
_TITLE_SURENESS = 0.6
_PART_SHARE = 0.9

_MAX_WORDS = 48
_MAX_COMPANIONS = 60
_COMPANION_SHARE = 2.0
_MAX_CONCEPTS = 6
_FRAME_WORD_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class Concept:
    """Something that clauses say. Statements that hold one of the `cues` ask for it, and titles that do show it;
    `asked` are further words by which people ask for it. `shown_by` and `ruled_out_by` are phrases of passages with the
    probability that they show it or rule it out. `parts` are narrower concepts, each of which shows this one too;
    `needs` is one that must be shown as well."""

    name: str
    cues: tuple[Phrase, ...]
    asked: tuple[Phrase, ...]
    shown_by: tuple[tuple[Phrase, float], ...]
    ruled_out_by: tuple[tuple[Phrase, float], ...]
    needs: str
    parts: tuple[str, ...]

    def words(self) -> Iterator[int]:
        """Yields the words that passages and their titles are searched for."""
        for phrase in (*self.cues, *(phrase for phrase, _ in (*self.shown_by, *self.ruled_out_by))):
            yield from phrase.words


Concepts = Mapping[str, Concept]


def load_concepts(stemmer: Stemmer) -> Concepts:
    """Reads the concepts that the package ships."""
    content = tomllib.loads(resources.files(__package__).joinpath(_FILE).read_text())

    def phrases(entry: Mapping[str, Sequence[str]], *kinds: str) -> tuple[tuple[Phrase, float], ...]:
        return tuple((parse_phrase(line, stemmer), _SURENESS[kind]) for kind in kinds for line in entry.get(kind, ()))

    return {
        name: Concept(
            name,
            tuple(parse_phrase(line, stemmer) for line in entry["cues"]),
            tuple(parse_phrase(line, stemmer) for line in entry.get("asked", ())),
            phrases(entry, "strong", "likely"),
            phrases(entry, "against"),
            entry.get("needs", ""),
            tuple(part for part, other in content.items() if name in other.get("part_of", ())),
        )
        for name, entry in content.items()
    }


def words_of_concepts(concepts: Concepts, names: Sequence[str]) -> Iterator[int]:
    """Yields all words that must be found in texts before the concepts can be judged."""
    for name in names:
        yield from concepts[name].words()
        yield from words_of_concepts(concepts, (*concepts[name].parts, *filter(None, (concepts[name].needs,))))


def evidence(
    concepts: Concepts, name: str, texts: tuple[Words, WordPositions], titles: tuple[Words, WordPositions]
) -> Floats:
    """Returns the probability that each passage shows the concept."""
    concept = concepts[name]
    shown = _shown(texts, concept.shown_by)
    in_title = _shown(titles, [(phrase, _TITLE_SURENESS) for phrase in concept.cues], only_first=True)
    found = 1 - (1 - shown) * (1 - in_title)
    for phrase, sureness in concept.ruled_out_by:
        found[phrase_holders(*texts, phrase)] *= 1 - sureness
    for part in concept.parts:
        found = np.maximum(found, _PART_SHARE * evidence(concepts, part, texts, titles))
    if concept.needs:
        found *= evidence(concepts, concept.needs, texts, titles)
    return found


def _shown(
    texts: tuple[Words, WordPositions], phrases: Sequence[tuple[Phrase, float]], *, only_first: bool = False
) -> Floats:
    doubt = np.ones(texts[0].count)
    for phrase, sureness in phrases:
        holders = phrase_holders(*texts, phrase)
        doubt[holders] = 1 - sureness if only_first else doubt[holders] * (1 - sureness)
    return 1 - doubt


@dataclass(frozen=True, slots=True)
class StatementContent:
    """What a statement asks for. `words` are its words by their rarity, and `widened` adds the words that are usual
    under headings with these words. `pairs` are words that follow one another. `concepts` come with the share of the
    statement that asks for each, the largest first."""

    words: WeightedWords
    widened: WeightedWords
    pairs: tuple[tuple[int, int], ...]
    concepts: tuple[tuple[str, float], ...]
    cover: float
    """The share of the words' weight that the first concept accounts for."""


class ContentReader:
    """Reads statements; to be used by one thread."""

    def __init__(self, stemmer: Stemmer, statistics: WordStatistics, concepts: Concepts) -> None:
        self._stemmer = stemmer
        self._statistics = statistics
        self._concepts = concepts
        self._cues_by_word: dict[int, list[tuple[str, Phrase]]] = {}
        for concept in concepts.values():
            for cue in (*concept.cues, *concept.asked):
                for number in set(cue.parts[-1].words):
                    self._cues_by_word.setdefault(number, []).append((concept.name, cue))
        self._frame = {number for word in STATEMENT_STOP_WORDS for number in stemmer.words(word)}

    def read(self, text: str) -> StatementContent:
        tokens = self._stemmer.tokens(text)
        in_order = [number for number in tokens.tolist() if number and number not in self._frame]
        words = {number: self._statistics.rarity_of(number) for number in distinct(in_order)[:_MAX_WORDS]}
        brought_up = self._brought_up(Words.of([tokens]), words)
        chief = brought_up[0][1] if brought_up else 0.0
        weighted = WeightedWords(words)
        return StatementContent(
            weighted,
            self._widened(weighted),
            tuple((first, second) for first, second in pairwise(in_order)),
            tuple((name, weight / chief) for name, weight in brought_up),
            min(1.0, chief / weighted.mass),
        )

    def _brought_up(self, text: Words, words: dict[int, float]) -> list[tuple[str, float]]:
        present = set(text.tokens.tolist())
        possible = [
            (name, cue)
            for number in present
            for name, cue in self._cues_by_word.get(number, ())
            if not any(present.isdisjoint(part.words) for part in cue.parts)
        ]
        hits = find(text.tokens, [number for _, cue in possible for number in cue.words])
        weights: dict[str, float] = {}
        for name, cue in possible:
            if len(phrase_holders(text, hits, cue)):
                weights[name] = max(weights.get(name, 0.0), _cue_weight(cue, present, words))
        found = list(weights.items())
        wider = {self._concepts[name].needs for name, _ in found}
        found = [(name, weight) for name, weight in found if name not in wider]
        return sorted(found, key=lambda item: (-item[1], item[0]))[:_MAX_CONCEPTS]

    def _widened(self, query: WeightedWords) -> WeightedWords:
        added: dict[int, float] = {}
        for number, weight in query.weights.items():
            for other, share in self._statistics.companions.get(number, ()):
                if other not in query.weights and other not in self._frame:
                    added[other] = added.get(other, 0.0) + weight * share
        widened = dict(query.weights)
        for number, weight in added.items():
            widened[number] = _COMPANION_SHARE * weight / query.mass * self._statistics.rarity_of(number)
        chosen = sorted(widened.items(), key=lambda item: (-item[1], item[0]))[:_MAX_COMPANIONS]
        return WeightedWords(dict(chosen))


def _cue_weight(cue: Phrase, present: Set[int], words: Mapping[int, float]) -> float:
    """Returns how much of the statement's weight the cue accounts for."""
    return sum(
        max(words.get(number, _FRAME_WORD_WEIGHT) for number in part.words if number in present) for part in cue.parts
    )
