"""What led to an exception."""

from collections.abc import Iterator


def with_causes(error: BaseException) -> Iterator[BaseException]:
    """The exception and those it was raised from, or while handling, each once."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__
