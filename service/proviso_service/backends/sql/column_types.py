"""Types of columns that hold the domain's values."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import BigInteger, DateTime, Dialect, Enum, Integer, String, Text, TypeDecorator


class _WithoutNul(TypeDecorator[str]):
    """A text as PostgreSQL takes it: its texts have every character but U+0000, for which U+FFFD stands."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return value.replace("\0", "\ufffd") if value and "\0" in value else value


TEXT = Text().with_variant(_WithoutNul(), "postgresql")

NAME = String().with_variant(_WithoutNul(collation="C"), "postgresql")
"""A short text, such as an id: compared and ordered by its code points in every database."""

BIG = BigInteger().with_variant(Integer, "sqlite")
"""An integer of 64 bits, as all integers of SQLite are. Only its type INTEGER makes keys by itself there."""


class UtcDateTime(TypeDecorator[datetime]):
    """A moment, stored and returned in UTC. Raises ValueError for one without a time zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a moment without a time zone cannot be stored")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Encoded(TypeDecorator[Any]):
    """A frozen dataclass, or a tuple of them, stored as JSON; `form` is its type. None is stored as NULL."""

    impl = Text
    cache_ok = True

    def __init__(self, form: Any) -> None:
        super().__init__()
        self.form = form
        self._adapter: TypeAdapter[Any] = TypeAdapter(form)

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return None if value is None else self._adapter.dump_json(value).decode()

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        return None if value is None else self._adapter.validate_json(value)


def enumerated(kind: type[StrEnum]) -> Enum:
    """The type of a column that holds an enum's values as text. A new value of the enum needs no migration."""
    return Enum(kind, native_enum=False, length=32, values_callable=lambda members: [m.value for m in members])
