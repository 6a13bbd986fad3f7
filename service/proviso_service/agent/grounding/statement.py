"""A sentence of an answer: what can be read from it, and what its check comes to."""

import re
from dataclasses import dataclass
from enum import StrEnum

from proviso_service.agent.grounding.names import names_in, places_in, roles_in
from proviso_service.agent.grounding.sentences import Quotation, quotations_in
from proviso_service.agent.grounding.sources import Source, Span
from proviso_service.agent.grounding.values import Figure, Value, values_of
from proviso_service.agent.grounding.words import content_stems
from proviso_service.language import language_of

NAMED = re.compile(r"\[([^\[\]\n]{1,128})\](?!\()")
"""A name or numbers in square brackets, which may name a source; no link of Markdown."""


_SAMPLES = {"de": "das ist nicht der", "fr": "ce n'est pas le", "es": "esto no es el", "it": "questo non è il"}


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence with what can be read from it: `unquoted` is its text with blanks for quotations and marks."""

    text: str
    unquoted: str
    quotations: tuple[Quotation, ...]
    values: tuple[Value, ...]
    names: tuple[str, ...]
    roles: frozenset[int]
    places: frozenset[int]
    stems: frozenset[str]
    language: str

    @classmethod
    def of(cls, sentence: str, answer_language: str) -> "Statement":
        quotations = tuple(quotations_in(sentence))
        bare = _blanked(sentence, [(q.start, q.end) for q in quotations] + [m.span() for m in NAMED.finditer(sentence)])
        # A sentence whose own words do not tell its language is in that of the answer.
        language = language_of(bare, _SAMPLES.get(answer_language, "")) if any(map(str.isalpha, bare)) else ""
        return cls(
            sentence,
            bare,
            quotations,
            tuple(values_of(bare)),
            tuple(names_in(bare, has_noun_capitals="de" in (language, answer_language))),
            frozenset(roles_in(bare)),
            frozenset(places_in(bare)),
            content_stems(bare),
            language,
        )

    @property
    def figures(self) -> tuple[Figure, ...]:
        return tuple(value for value in self.values if isinstance(value, Figure))


def _blanked(text: str, spans: list[tuple[int, int]]) -> str:
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


class Outcome(StrEnum):
    """What the check of a sentence came to. TALK needs no source, REFUSAL says that there is no answer, SEARCHED says
    what was looked for, and MISSING that it is not there. GROUNDED rests on the sources that it cites. UNCITED is held
    by a numbered source that it does not cite. UNGROUNDED is held by none."""

    TALK = "talk"
    REFUSAL = "refusal"
    SEARCHED = "searched"
    MISSING = "missing"
    GROUNDED = "grounded"
    UNCITED = "uncited"
    UNGROUNDED = "ungrounded"


@dataclass(frozen=True, slots=True)
class Cited:
    """A place of a source that a sentence cites. `start` and `end` are the cited part of the sentence. `number_at` is
    where its number stands, None where the sentence has none. `is_paraphrase` says that nothing is quoted."""

    source: Source
    span: Span
    start: int
    end: int
    number_at: tuple[int, int] | None = None
    is_paraphrase: bool = False


@dataclass(frozen=True, slots=True)
class CheckedSentence:
    """A sentence with the outcome of its check, the places that it cites, and the figures that it shows."""

    text: str
    outcome: Outcome
    cited: tuple[Cited, ...] = ()
    figures: tuple[Figure, ...] = ()

    @property
    def is_held(self) -> bool:
        return self.outcome is not Outcome.UNGROUNDED
