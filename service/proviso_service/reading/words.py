"""Finds the words of texts: what counts as a word, which words tell little, and where a text holds words in any of
their forms."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from unicodedata import normalize

import Stemmer

from proviso_service.reading.canonical import readable, without_joiners
from proviso_service.reading.model import Span

MAX_WORDS = 32
"""The most words of a query that count; more of a long text would add time and little else."""

LETTERS_AND_DIGITS = r"[^\W_]+"
"""A pattern of a word. The words of every text are such runs, whatever else one use or another counts as a word."""

WORD = re.compile(LETTERS_AND_DIGITS)
# "12.3" and "1,000" count as one word each.
_WORD_OR_NUMBER = re.compile(rf"\d+(?:[.,]\d+)+(?![^\W_])|{LETTERS_AND_DIGITS}")
# "don't" and "R&D" count as one word each.
_JOINED_WORD = re.compile(rf"{LETTERS_AND_DIGITS}(?:['\u2019&]{LETTERS_AND_DIGITS})*")
_POSSESSIVE = re.compile(r"['\u2019]s$")
# A soft hyphen, a character without width or a line's end with its hyphen may stand inside a word.
_JOINT = r"(?:[\u00ad\u200b-\u200f\u2060\ufeff]+|[-\u2010]\r?\n[ \t]*(?=[^\W\d_]))"
_TEXT_WORD = re.compile(rf"{_WORD_OR_NUMBER.pattern}(?:{_JOINT}{LETTERS_AND_DIGITS})*")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_IN_WORD = re.compile(_JOINT)
_SEPARATOR = re.compile("[.,]")
# Accents of alphabets; the voicing marks of kana and the vowels of Indic scripts are others, and stay.
_ACCENT = re.compile("[\u0300-\u036f]")
# Shorter words have no other form.
_MIN_STEMMED_CHARS = 3
# A stem is its word without some last letters, of which at most so many differ.
_CHANGED_CHARS = 2
_KEPT_CHARS = 2


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Words that tell little about what a text is about, in groups. Each use below leaves out the groups that fit it.
_GRAMMAR = _set(
    """
    a about also an and any are as at be because been being but by can could describe did do does each for from had
    has have he if in into is it its of on or other out she should so some such than that the their them then there
    these they this those to under up what when where which who whom whose why with would
    """
)
_PERSONS_AND_CONTRACTIONS = _set(
    """
    all am both d doing don else explain find having her here hers him his how i just ll m me mine my no nor not our
    ours over own please re s same show t tell theirs too us ve very was we were you your yours
    """
)
# These say who has a duty or a right, so a search in contracts looks for them.
_MODAL_VERBS = frozenset({"may", "must", "shall", "will"})
KINDS_OF_CONTRACTS = frozenset({"agreement", "agreements", "contract", "contracts"})
_PARTS_OF_CONTRACTS = frozenset(
    {"clause", "clauses", "document", "documents", "provision", "provisions", "section", "sections"}
)
_PARTIES = frozenset({"parties", "party"})
_STATING = _set(
    """
    anything case either given include includes including one passage provide provides say says set something state
    stated states text whether
    """
)
_ASKING = _set(
    """
    above across actually after anyone ask back before between check come compare compared contain contained
    contains count deal dealing deals differ difference different discuss discussed done even ever every everything
    exact exactly exist exists file files further get give go going happen happens hello help hi higher highest
    included information kindly know larger later let like list locate long longer longest look looking lot lower
    lowest make makes many matter mean mention mentioned mentions might more most much need now number off often ok
    okay only paragraph part passages period periods point possible provided quote quotes read refer references
    regarding related relevant said saying search see shorter shortest smaller summarise summarize take talk talks
    thank thanks thing things times until use used want well while within word words
    """
)
_DESCRIBING = _set(
    """
    category certain counterparty etc kind others particular particularly providing someone specified specifies
    specify statement
    """
)

STOP_WORDS = _GRAMMAR | _PERSONS_AND_CONTRACTIONS
"""The words that a search leaves out of a question."""

GENERAL_WORDS = KINDS_OF_CONTRACTS | _PARTS_OF_CONTRACTS | _PARTIES
"""Words that every passage of a contract may hold, whatever it is about."""

MESSAGE_STOP_WORDS = STOP_WORDS | _MODAL_VERBS
"""The words that are left out of a message of which only the subject matters."""

REQUEST_STOP_WORDS = MESSAGE_STOP_WORDS | _PARTS_OF_CONTRACTS | _STATING | _ASKING
"""The words that are left out of a request about documents, including those by which people ask."""

STATEMENT_STOP_WORDS = _GRAMMAR | _MODAL_VERBS | GENERAL_WORDS | _STATING | _DESCRIBING
"""The words that are left out of a statement about a clause, including those that say that something is stated. The
embedded classifier was fitted with this set, so a change of the set needs a new fit."""


def plain_words(text: str) -> list[str]:
    """Returns the runs of letters and digits in order, in lower case."""
    return WORD.findall(without_joiners(text).lower())


def joined_words(text: str) -> list[str]:
    """Returns the words in order, in lower case. Apostrophes and ampersands stay in a word, but the ending of a
    possessive does not."""
    return [_POSSESSIVE.sub("", word) for word in _JOINED_WORD.findall(without_joiners(text).lower())]


def words_of(text: str) -> tuple[str, ...]:
    """Returns all words in order, case folded; a number with its points and commas is one word."""
    return tuple(word.casefold() for word in _WORD_OR_NUMBER.findall(readable(_CONTROL.sub(" ", text))))


def significant_words(query: str) -> tuple[str, ...]:
    """Returns the words of a question that say what it is about, in order, in lower case, each once; at most
    MAX_WORDS."""
    return tuple(dict.fromkeys(word for word in words_of(query) if word not in STOP_WORDS))[:MAX_WORDS]


def telling_words(words: Sequence[str]) -> Sequence[str]:
    """Returns those of the significant words that tell one passage from another, or all of them where none does.
    Measured on labelled contracts, leaving out the others brings 2 percentage points more of the right passages among
    the first five."""
    return [word for word in words if word not in GENERAL_WORDS] or words


class SearchTerms:
    """Finds the terms by which a search compares words: their stems by Porter's rules, in lower case and without
    accents. It remembers those that it has seen, and is for one thread."""

    def __init__(self) -> None:
        self._stemmer = Stemmer.Stemmer("porter")
        self._known: dict[str, str] = {}

    def counts(self, text: str) -> dict[str, int]:
        """Returns the terms of a text, and how often it has each. A number with points and commas is a term, and so are
        its parts and its beginnings."""
        counts: dict[str, int] = {}
        for word, count in Counter(_WORD_OR_NUMBER.findall(_without_accents(text.casefold()))).items():
            term = self.of_word(word)
            counts[term] = counts.get(term, 0) + count
            if not word.isalnum():
                for part in _parts(word):
                    counts[part] = counts.get(part, 0) + count
        return counts

    def of_word(self, word: str) -> str:
        """Returns the term of one of the words that `words_of` finds in a query."""
        term = self._known.get(word)
        if term is None:
            plain = _without_accents(word)
            term = self._stemmer.stemWord(plain) if len(plain) >= _MIN_STEMMED_CHARS else plain
            self._known[word] = term
        return term


def _parts(number: str) -> Iterator[str]:
    """Yields the parts of a number with points and commas, and its beginnings of more than one part."""
    yield from _SEPARATOR.split(number)
    _, *ends = (match.start() for match in _SEPARATOR.finditer(number))
    yield from (number[:end] for end in ends)


def _without_accents(text: str) -> str:
    return text if text.isascii() else normalize("NFC", _ACCENT.sub("", normalize("NFD", text)))


class WordForms:
    """Finds the words of one query in texts, in all forms that a search takes for the same word, which are those with
    the same stem by Porter's rules. It remembers the stems of words that it has seen, so it is made for one search."""

    def __init__(self, words: Iterable[str]) -> None:
        self._stemmer = Stemmer.Stemmer("porter")
        self._stems = frozenset(self._stem(word) for word in words)
        self._beginnings = tuple(stem[: max(_KEPT_CHARS, len(stem) - _CHANGED_CHARS)] for stem in self._stems)
        self._known: dict[str, str] = {}

    def find(self, text: str) -> Iterator[tuple[Span, str]]:
        """Yields the places of the query's words in order, each with the stem of its word."""
        if not self._stems:
            return
        for match in _TEXT_WORD.finditer(text):
            stem = self._known_stem(_IN_WORD.sub("", match[0]))
            if stem in self._stems:
                yield Span(*match.span()), stem

    def _known_stem(self, word: str) -> str:
        """Returns the stem, or "" for a word that cannot be one of the query's: stemming costs three times as much as
        this check."""
        stem = self._known.get(word)
        if stem is None:
            folded = readable(word).casefold()
            stem = self._stem(folded) if folded.startswith(self._beginnings) else ""
            self._known[word] = stem
        return stem

    def _stem(self, word: str) -> str:
        return self._stemmer.stemWord(word) if len(word) >= _MIN_STEMMED_CHARS else word
