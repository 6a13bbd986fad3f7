"""Statements that ask for a category, in several wordings."""

import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources

Phrasings = Mapping[str, Sequence[str]]


def about(category: str, question: str) -> str:
    """The wording that the figures are about."""
    return f"This is a clause about {spoken(category)}. {question}"


def phrasings(category: str, question: str) -> tuple[str, ...]:
    """The category's name with its question, each alone, and the short statements that were written for it."""
    name = spoken(category)
    written = tomllib.loads(resources.files("evals").joinpath("statements.toml").read_text())
    return (about(category, question), question, f"This is a {name.lower()} clause.", *written.get(category, ()))


def spoken(category: str) -> str:
    return category.replace("/", " / ")
