"""Glossary: what German, French and Spanish words of legal and ordinary business mean in English.

The embedded embedding model knows English only, and so do most catalogs. Before a message in another language is
compared with the items, its words are translated one by one. That gives no sentence, but it gives the subject."""

import re
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Self

import Stemmer

from proviso_service.language import is_function_word

_FILE = "glossary.txt"
_LANGUAGES = {"de": "german", "fr": "french", "es": "spanish"}
_MAX_CHARS = 8_000
_MAX_WORDS = 64
_MAX_PHRASE = 4
_MIN_PART = 4
_MIN_COMPOUND = 8
_MAX_PART = 20
_MAX_WORD = 40
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class SearchedMessage:
    """A message as it is compared with items: by its `words`, and by the meaning of `texts`, the message itself and
    what it is in English where it is not."""

    texts: tuple[str, ...]
    words: str


def _folded(text: str) -> str:
    """The text in lower case and without accents."""
    return "".join(one for one in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(one))


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of one language: English by folded stems and forms, and by phrases of several folded words."""

    language: str
    stemmer: Stemmer.Stemmer
    english: Mapping[str, str]
    phrases: Mapping[tuple[str, ...], str]

    @classmethod
    def of(cls, language: str, entries: Sequence[tuple[str, str]]) -> Self:
        """The words of entries, each with its English; the words of a phrase are joined by underscores."""
        stemmer = Stemmer.Stemmer(_LANGUAGES[language])
        english: dict[str, str] = {}
        phrases: dict[tuple[str, ...], str] = {}
        for entry, meaning in entries:
            if "_" in entry:
                phrases[tuple(_folded(entry).split("_"))] = meaning
                continue
            for form in dict.fromkeys((_folded(entry), _folded(stemmer.stemWord(entry)))):
                known = english.get(form, "")
                english[form] = meaning if known in {"", meaning} else f"{known} {meaning}"
        return cls(language, stemmer, english, phrases)

    def phrase(self, words: Sequence[str]) -> tuple[int, str]:
        """How many of the first words are a phrase, and its English; 0 where they are none."""
        for length in range(min(_MAX_PHRASE, len(words)), 1, -1):
            if meaning := self.phrases.get(tuple(map(_folded, words[:length]))):
                return length, meaning
        return 0, ""

    def meaning(self, word: str) -> str:
        """The English of a word, or of the parts of a German compound; empty where it is unknown."""
        folded = _folded(word)
        known = self.english.get(folded) or self.english.get(_folded(self.stemmer.stemWord(word)), "")
        if known or self.language != "de" or len(folded) < _MIN_COMPOUND:
            return known
        return self._of_parts(folded)

    def _of_parts(self, compound: str) -> str:
        """The English of the parts of a compound, if they make up at least half of its letters."""
        found: list[str] = []
        start = letters = 0
        while start < len(compound):
            ends = range(min(len(compound), start + _MAX_PART), start + _MIN_PART - 1, -1)
            end = next((end for end in ends if compound[start:end] in self.english), 0)
            if end:
                found.append(self.english[compound[start:end]])
                letters += end - start
            start = end or start + 1
        return " ".join(found) if 2 * letters >= len(compound) else ""


class Glossary:
    """The words of all languages."""

    def __init__(self, languages: Mapping[str, _Words]) -> None:
        self._languages = languages

    @classmethod
    def read(cls) -> Self:
        """Reads the glossary that ships with the service: a line for each meaning, with its English words and, after
        bars, the German, French and Spanish ones. Blocks, for some milliseconds."""
        text = files(__package__).joinpath(_FILE).read_text(encoding="utf-8")
        rows = [line.split("|") for line in text.splitlines()]
        return cls(
            {
                language: _Words.of(language, [(word, row[0].strip()) for row in rows for word in row[place].split()])
                for place, language in enumerate(_LANGUAGES, 1)
            }
        )

    def in_english(self, message: str, likely: Collection[str], is_known: Callable[[str], bool]) -> SearchedMessage:
        """The message with its words translated from the `likely` languages, as far as the glossary has them.

        Where no language is likely, as with a single word, words that the items have (`is_known`) stay as they are, and
        others are looked up in all languages."""
        languages = [own for language, own in self._languages.items() if not likely or language in likely]
        if not languages:
            return SearchedMessage((message,), message)
        words = [word for word in _WORD.findall(message[:_MAX_CHARS].lower()) if len(word) <= _MAX_WORD][:_MAX_WORDS]
        translated, rest = _translated(words, languages, is_known if not likely else lambda _: False)
        if not translated:
            return SearchedMessage((message,), message)
        english = " ".join((*translated, *rest))
        own = [word for word in words if not any(is_function_word(word, one.language) for one in languages)]
        return SearchedMessage((message, english), " ".join((english, *own)))


def _translated(
    words: Sequence[str], languages: Sequence[_Words], is_known: Callable[[str], bool]
) -> tuple[list[str], list[str]]:
    """The English of the words that are in the glossary, each once, and the words that are not."""
    translated: dict[str, None] = {}
    rest: list[str] = []
    at = 0
    while at < len(words):
        length, meaning = max(one.phrase(words[at : at + _MAX_PHRASE]) for one in languages)
        if not length:
            length, meaning = 1, _meaning(words[at], languages, is_known)
            if not meaning and not any(is_function_word(words[at], one.language) for one in languages):
                rest.append(words[at])
        translated |= dict.fromkeys([meaning] if meaning else [])
        at += length
    return list(translated), rest


def _meaning(word: str, languages: Sequence[_Words], is_known: Callable[[str], bool]) -> str:
    if is_known(word) or any(is_function_word(word, one.language) for one in languages):
        return ""
    return next((meaning for one in languages if (meaning := one.meaning(word))), "")
