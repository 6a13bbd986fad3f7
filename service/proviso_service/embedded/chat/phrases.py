"""How people ask, as data: `phrases.toml`, which is read once."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Any


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


@dataclass(frozen=True, slots=True)
class IntentPhrases:
    """Examples of questions, and cues with what each adds to a question's nearness to them."""

    examples: Sequence[str]
    cues: Sequence[tuple[float, re.Pattern[str]]]


@cache
def pattern(name: str) -> re.Pattern[str]:
    """Returns the alternatives of a pattern as one. Raises KeyError when there is none of the name."""
    return _compiled("|".join(_data()["patterns"][name]))


@cache
def patterns(name: str) -> tuple[re.Pattern[str], ...]:
    """Returns the alternatives of a pattern one by one. Raises KeyError when there is none of the name."""
    return tuple(map(_compiled, _data()["patterns"][name]))


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
