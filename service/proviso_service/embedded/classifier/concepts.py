"""What clauses of contracts say, as concepts that statements bring up and passages show."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

import numpy as np

from proviso_service.embedded.classifier.matching import Floats, Hits, phrase_holders
from proviso_service.embedded.classifier.passages import Words
from proviso_service.embedded.classifier.phrases import Phrase, parse_phrase
from proviso_service.embedded.classifier.words import Stemmer

_FILE = "concepts.toml"
_SURENESS = {"strong": 0.75, "likely": 0.4, "against": 0.5}
_TITLE_SURENESS = 0.6
_PART_SHARE = 0.9


@dataclass(frozen=True, slots=True)
class Concept:
    """`shown_by` and `ruled_out_by` are phrases with their sureness; `parts` name narrower concepts that show it too;
    `needs` one that must be shown as well."""

    name: str
    cues: tuple[Phrase, ...]
    shown_by: tuple[tuple[Phrase, float], ...]
    ruled_out_by: tuple[tuple[Phrase, float], ...]
    needs: str
    parts: tuple[str, ...]

    def words(self) -> Iterator[int]:
        for phrase in (*self.cues, *(phrase for phrase, _ in (*self.shown_by, *self.ruled_out_by))):
            yield from phrase.words


Concepts = Mapping[str, Concept]


def load_concepts(stemmer: Stemmer) -> Concepts:
    content = tomllib.loads(resources.files(__package__).joinpath(_FILE).read_text())

    def phrases(entry: Mapping[str, Sequence[str]], *kinds: str) -> tuple[tuple[Phrase, float], ...]:
        return tuple((parse_phrase(line, stemmer), _SURENESS[kind]) for kind in kinds for line in entry.get(kind, ()))

    return {
        name: Concept(
            name,
            tuple(parse_phrase(line, stemmer) for line in entry["cues"]),
            phrases(entry, "strong", "likely"),
            phrases(entry, "against"),
            entry.get("needs", ""),
            tuple(part for part, other in content.items() if name in other.get("part_of", ())),
        )
        for name, entry in content.items()
    }


def words_of_concepts(concepts: Concepts, names: Sequence[str]) -> Iterator[int]:
    """What must be looked for in texts to judge the concepts."""
    for name in names:
        yield from concepts[name].words()
        yield from words_of_concepts(concepts, (*concepts[name].parts, *filter(None, (concepts[name].needs,))))


def evidence(concepts: Concepts, name: str, texts: tuple[Words, Hits], titles: tuple[Words, Hits]) -> Floats:
    """How surely each passage shows the concept, in [0, 1]."""
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


def _shown(texts: tuple[Words, Hits], phrases: Sequence[tuple[Phrase, float]], *, only_first: bool = False) -> Floats:
    doubt = np.ones(texts[0].count)
    for phrase, sureness in phrases:
        holders = phrase_holders(*texts, phrase)
        doubt[holders] = 1 - sureness if only_first else doubt[holders] * (1 - sureness)
    return 1 - doubt
