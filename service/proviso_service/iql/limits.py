"""Bounds on a query: queries come from people and language models that nobody vouches for."""

from dataclasses import dataclass

_CEILINGS = {"max_length": 100_000, "max_statements": 128, "max_depth": 64}
"""Trees are walked by recursion; these keep its depth, at most statements plus depth, well within Python's."""


@dataclass(frozen=True, slots=True)
class Limits:
    """`max_length` in Unicode code points. `max_statements` counts statements and templates as written, also equal
    ones. `max_depth` counts how many parentheses and NOTs stand around a statement, also needless ones."""

    max_length: int = 4_000
    max_statements: int = 16
    max_depth: int = 32

    def __post_init__(self) -> None:
        for name, ceiling in _CEILINGS.items():
            if not 1 <= getattr(self, name) <= ceiling:
                raise ValueError(f"{name} is between 1 and {ceiling:,}")


DEFAULT_LIMITS = Limits()
