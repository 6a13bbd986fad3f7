"""Statements that ask for a category, in several wordings."""

import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources

Phrasings = Mapping[str, Sequence[str]]


def about(category: str, question: str) -> str:
    """The wording of a statement about the category that the figures use."""
    return f"This is a clause about {spoken(category)}. {question}"


def phrasings(category: str, question: str) -> tuple[str, ...]:
    """All wordings, each once: the category's name with its question, each of the two alone, and the short statements
    written for the category."""
    name = spoken(category)
    written = tomllib.loads(resources.files("evals").joinpath("statements.toml").read_text())
    article = "an" if name[0] in "AEIOU" else "a"
    named = f"This is {article} {name.lower()} clause."
    return tuple(dict.fromkeys((about(category, question), question, named, *written.get(category, ()))))


def spoken(category: str) -> str:
    return category.replace("/", " / ")
