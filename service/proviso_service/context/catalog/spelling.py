"""How like two names are, in spite of typing errors. Quick: a caller may ask for any name of a large catalog."""

from dataclasses import dataclass

_SLIP = 0.9
_MIN_SLIP_CHARS = 3
"""Of shorter names one is a slip away from every other."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """A name without its capitals, and the pairs of its neighbouring letters; a word's ends have a space for one."""

    text: str
    pairs: frozenset[str]

    @classmethod
    def of(cls, name: str) -> "Spelling":
        text = " ".join(name.casefold().replace("_", " ").split())
        padded = f" {text} "
        return cls(text, frozenset(padded[start : start + 2] for start in range(len(padded) - 1)))


def likeness(one: Spelling, other: Spelling) -> float:
    """Dice's coefficient of the pairs, 0 to 1. Short names have few of them, so one slip of the hand is looked for by
    itself."""
    shared = 2 * len(one.pairs & other.pairs) / (len(one.pairs) + len(other.pairs))
    return max(shared, _SLIP) if _one_slip_apart(one.text, other.text) else shared


def _one_slip_apart(one: str, other: str) -> bool:
    """Whether one letter is missing, too many or wrong, or two neighbours are swapped."""
    if abs(len(one) - len(other)) > 1 or max(len(one), len(other)) < _MIN_SLIP_CHARS:
        return False
    shorter = min(len(one), len(other))
    start = next((at for at in range(shorter) if one[at] != other[at]), shorter)
    left, right = one[start:], other[start:]
    swapped = left[:2] == right[:2][::-1] and left[2:] == right[2:]
    return swapped or right[1:] in (left, left[1:]) or left[1:] == right
