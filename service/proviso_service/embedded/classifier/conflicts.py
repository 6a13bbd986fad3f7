"""Tells where a text gives another figure, date or law than a statement does: by its words and its subject it fits, but
it says otherwise."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from proviso_service.reading import LAW, Date, Value, plain_words, stands_in, values_of

_MAX_CHARS = 20_000


def conflicts(statement: str, texts: Sequence[str]) -> NDArray[np.bool_]:
    """Tells of each text whether it says otherwise. A text without figures of the same unit, dates or laws does not."""
    figures = [value for value in values_of(statement) if isinstance(value, Date) or value.unit]
    places = _places(statement)
    if not figures and not places:
        return np.zeros(len(texts), dtype=np.bool_)
    return np.array([_says_otherwise(figures, places, text[:_MAX_CHARS]) for text in texts], dtype=np.bool_)


def _says_otherwise(figures: Sequence[Value], places: Sequence[frozenset[str]], text: str) -> bool:
    own = _places(text) if places else ()
    if own and not any(one <= other or other <= one for one in places for other in own):
        return True
    values = values_of(text, is_source=True) if figures else []
    return any(not stands_in(one, values) and any(_is_like(one, other) for other in values) for one in figures)


def _is_like(one: Value, other: Value) -> bool:
    if isinstance(one, Date) or isinstance(other, Date):
        return isinstance(one, Date) and isinstance(other, Date)
    return one.unit == other.unit


def _places(text: str) -> list[frozenset[str]]:
    """Returns the words of each place whose law a text names."""
    return [frozenset(plain_words(match["place"] or match["whose"])) for match in LAW.finditer(text)]
