"""Statements that ask for a category, in several wordings."""

import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources

Phrasings = Mapping[str, Sequence[str]]


def about(category: str, question: str) -> str:
    """The wording that the figures are about."""
    return f"This is a clause about {spoken(category)}. {question}"


def phrasings(category: str, question: str) -> tuple[str, ...]:
    """The category's name with its question, each alone, and the short statements written for it; each once."""
    name = spoken(category)
    written = tomllib.loads(resources.files("evals").joinpath("statements.toml").read_text())
    article = "an" if name[0] in "AEIOU" else "a"
    named = f"This is {article} {name.lower()} clause."
    return tuple(dict.fromkeys((about(category, question), question, named, *written.get(category, ()))))


def spoken(category: str) -> str:
    return category.replace("/", " / ")
