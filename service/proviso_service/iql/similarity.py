"""How alike two template names are, whatever their word order and in spite of typing errors.

Names are compared by the letter triples of their words (Dice's coefficient). Words that say nothing about a template's
subject are left out."""

_COMMON_WORDS = frozenset({"a", "an", "and", "clause", "clauses", "for", "from", "is", "of", "or", "that", "the", "to"})


def traits(name: str) -> frozenset[str]:
    """The letter triples of a name in lower case."""
    return frozenset(triple for word in _telling(name.replace("-", " ").split()) for triple in _triples(word))


def similarity(left: frozenset[str], right: frozenset[str]) -> float:
    """From 0, nothing in common, to 1."""
    return 2 * len(left & right) / (len(left) + len(right)) if left and right else 0.0


def _telling(words: list[str]) -> list[str]:
    return [word for word in words if word not in _COMMON_WORDS] or words


def _triples(word: str) -> list[str]:
    padded = f"  {word} "
    return [padded[i : i + 3] for i in range(len(padded) - 2)]
