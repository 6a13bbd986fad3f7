"""How people ask, as data: `phrases.toml`, which is read once; and the words that say what a question is about."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

from proviso_service.reading import KINDS_OF_CONTRACTS, REQUEST_STOP_WORDS, joined_words

_STEM_LENGTH = 6
_WITHOUT_SUBJECT = REQUEST_STOP_WORDS | KINDS_OF_CONTRACTS


class Intent(StrEnum):
    """What a question wants."""

    LIST = "list"
    SHOW = "show"
    SUMMARY = "summary"
    COUNT = "count"
    FACT = "fact"
    CLAUSE = "clause"
    COMPARE = "compare"
    GREETING = "greeting"
    THANKS = "thanks"
    ABOUT = "about"
    ADVICE = "advice"
    OFF_TOPIC = "off_topic"


DOCUMENT_FREE = frozenset({Intent.GREETING, Intent.THANKS, Intent.ABOUT, Intent.ADVICE, Intent.OFF_TOPIC})
"""The intents that have nothing to do with documents."""


class IntentPhrases(NamedTuple):
    """Examples of questions, and cues with what each adds to a question's nearness to them."""

    examples: Sequence[str]
    cues: Sequence[tuple[float, re.Pattern[str]]]


@cache
def pattern(name: str) -> re.Pattern[str]:
    """Returns the alternatives of a pattern as one. Raises KeyError when there is none of the name."""
    return _compiled("|".join(_data()["patterns"][name]))


@cache
def words(name: str) -> frozenset[str]:
    """Returns the words of a list. Raises KeyError when there is none of the name."""
    return frozenset(_data()["words"][name].split())


def table(name: str) -> Mapping[str, str]:
    """Returns what each word of a table stands for. Raises KeyError when there is none of the name."""
    found: Mapping[str, str] = _data()[name]
    return found


def intents() -> Mapping[Intent, IntentPhrases]:
    return {
        Intent(name): IntentPhrases(
            one["examples"], [(float(cue["adds"]), _compiled(cue["pattern"])) for cue in one["cues"]]
        )
        for name, one in _data()["intents"].items()
    }


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath("phrases.toml").read_text("utf-8"))


def _compiled(text: str) -> re.Pattern[str]:
    return re.compile(_written_out(text), re.IGNORECASE)


def _written_out(text: str) -> str:
    parts = _data()["parts"]
    return re.sub(r"%(\w+)%", lambda part: _written_out("|".join(parts[part[1]])), text)


def stem(word: str) -> str:
    """Returns the beginning of a word that its forms share: `termin` for `terminates`, `termination` and
    `terminating`."""
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    return word[:_STEM_LENGTH]


def stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in joined_words(text))


def content_words(text: str) -> list[str]:
    """Returns the words of a question that say what it is about, in order."""
    return [word for word in joined_words(text) if word not in _WITHOUT_SUBJECT]


def content_stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in content_words(text))
