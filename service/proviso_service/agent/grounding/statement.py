"""A sentence of an answer: what can be read from it, and what its check comes to."""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from proviso_service.agent.grounding.names import names_in, places_in, roles_in
from proviso_service.agent.grounding.sentences import Quotation, quotations_in
from proviso_service.agent.grounding.sources import Source, Span
from proviso_service.agent.grounding.words import content_stems
from proviso_service.language import language_of
from proviso_service.reading import Figure, Value, values_of

NAMED = re.compile(r"\[([^\[\]\n]{1,128})\](?!\()")
"""A name or numbers in square brackets, which may name a source; no link of Markdown."""


_SAMPLES = {"de": "das ist nicht der", "fr": "ce n'est pas le", "es": "esto no es el", "it": "questo non è il"}


@dataclass(frozen=True)
class Statement:
    """A sentence with what can be read from it. Each thing is read when it is first asked for, because many sentences,
    such as questions, are judged by a few of them. `answer_language` is the language of the answer."""

    text: str
    answer_language: str

    @cached_property
    def quotations(self) -> tuple[Quotation, ...]:
        return tuple(quotations_in(self.text))

    @cached_property
    def unquoted(self) -> str:
        """The text with blanks for quotations and marks."""
        marks = [mark.span() for mark in NAMED.finditer(self.text)]
        return _blanked(self.text, [(q.start, q.end) for q in self.quotations] + marks)

    @cached_property
    def language(self) -> str:
        """The language of the sentence; that of the answer where its own words do not tell it, and empty where it has
        no words."""
        if not any(map(str.isalpha, self.unquoted)):
            return ""
        return language_of(self.unquoted, _SAMPLES.get(self.answer_language, ""))

    @cached_property
    def values(self) -> tuple[Value, ...]:
        return tuple(values_of(self.unquoted))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The words that look like names. In German, which writes all nouns with a capital, they are fewer."""
        found = tuple(names_in(self.unquoted, has_noun_capitals=False))
        if found and "de" in (self.answer_language, self.language):
            return tuple(names_in(self.unquoted, has_noun_capitals=True))
        return found

    @cached_property
    def roles(self) -> frozenset[int]:
        return frozenset(roles_in(self.unquoted))

    @cached_property
    def places(self) -> frozenset[int]:
        return frozenset(places_in(self.unquoted))

    @cached_property
    def stems(self) -> frozenset[str]:
        return content_stems(self.unquoted)

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
