"""What a passage is called."""

import math
import re
from collections.abc import Sequence

from proviso_service.models import Passage

_FURTHER_SHARE = 0.8
_OPENING_SCORE = 0.95
_LEAST = 0.02
_OPENING_CHARS = 200
_NUMBER = re.compile(r"^\W*(?:(?:article|section|clause)\s+)?[\dA-Za-z]{1,3}(?:\.\d+)*[.)]?\s+(?=[A-Z])", re.IGNORECASE)
_TITLE_END = re.compile(r"[.:\n\u2013\u2014](?:\s|$)")
_KINDS = frozenset(("article", "section", "clause"))


def called_score(passage: Passage, name: str) -> float:
    """Probability that the passage has the name: by the heading right above, surely; by headings further up or by the
    words it opens with, likely."""
    wanted = _words(name)
    if not wanted:
        return _LEAST
    *further, nearest = passage.section_path or ("",)
    opening = _OPENING_SCORE if _opening(passage.text) == wanted else 0.0
    above = max((_FURTHER_SHARE * _likeness(wanted, _words(title)) for title in further), default=0.0)
    return max(_LEAST, opening, above, _likeness(wanted, _words(nearest)))


def _likeness(wanted: Sequence[str], title: Sequence[str]) -> float:
    """1 for the same words, less for words that are missing and a little less for others that are there."""
    if not title:
        return 0.0
    shared = len(set(wanted) & set(title))
    recall, precision = shared / len(set(wanted)), shared / len(set(title))
    return 0.98 * recall * recall * math.sqrt(precision)


def _words(title: str) -> list[str]:
    """Singular, without the number in front."""
    words = re.findall(r"[^\W_]+", title.lower())
    named = [word.rstrip("s") or word for word in words if not word.isdigit() and word not in _KINDS]
    return named[1:] if len(named) > 1 and len(named[0]) == 1 else named


def _opening(text: str) -> list[str]:
    beginning = _NUMBER.sub("", text[:_OPENING_CHARS].lstrip(), count=1)
    return _words(_TITLE_END.split(beginning, maxsplit=1)[0])
