"""Near misses: which known names a mistyped name may have meant.

The comparison is quick, because a caller may ask for any name of a large catalog.
"""

from collections.abc import Iterable
from dataclasses import dataclass

MIN_LIKENESS = 0.4
"""Two names that are less alike than this are not offered for one another."""

_ONE_SLIP = 0.9
"""The likeness of two names that differ by one typing error."""

_MIN_SLIP_CHARS = 3
"""Shorter names are not compared for typing errors: each of them is one error away from every other."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """A name prepared for comparison: in lower case, and as the set of the runs of three characters in its words, where
    two spaces stand before a word and one behind it. So the beginnings of words weigh more than their endings."""

    text: str
    runs: frozenset[str]

    @classmethod
    def of(cls, name: str) -> "Spelling":
        text = " ".join(name.casefold().replace("_", " ").split())
        padded = [f"  {word} " for word in text.split()]
        return cls(text, frozenset(word[start : start + 3] for word in padded for start in range(len(word) - 2)))


def likeness(one: Spelling, other: Spelling) -> float:
    """How alike two names are, from 0 to 1: Dice's coefficient of their runs of characters.

    Short names have few runs, so a single typing error would make them look unlike; it is looked for separately."""
    shared = 2 * len(one.runs & other.runs) / ((len(one.runs) + len(other.runs)) or 1)
    return max(shared, _ONE_SLIP) if _one_slip_apart(one.text, other.text) else shared


def near_misses(name: str, known: Iterable[str], most: int = 3, min_likeness: float = MIN_LIKENESS) -> list[str]:
    """The known names that `name` may have meant, the most similar first, at most `most` of them."""
    wanted = Spelling.of(name)
    scored = [(likeness(wanted, Spelling.of(one)), one) for one in known]
    near = [(score, one) for score, one in scored if score >= min_likeness]
    near.sort(key=lambda pair: (-pair[0], pair[1]))
    return [one for _, one in near[:most]]


def did_you_mean(names: Iterable[str]) -> str:
    """The end of a sentence that offers these names; empty if there are none."""
    listed = " or ".join(names)
    return f"; did you mean {listed}?" if listed else ""


def _one_slip_apart(one: str, other: str) -> bool:
    """Whether the names differ by one missing, additional or wrong character, or by two neighbours swapped."""
    if abs(len(one) - len(other)) > 1 or max(len(one), len(other)) < _MIN_SLIP_CHARS:
        return False
    shorter = min(len(one), len(other))
    start = next((at for at in range(shorter) if one[at] != other[at]), shorter)
    left, right = one[start:], other[start:]
    swapped = left[:2] == right[:2][::-1] and left[2:] == right[2:]
    return swapped or right[1:] in (left, left[1:]) or left[1:] == right
