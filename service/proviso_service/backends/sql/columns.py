"""Column types that hand out values of the domain."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import DateTime, Dialect, Enum, Text, TypeDecorator


class UtcDateTime(TypeDecorator[datetime]):
    """A moment: stored in UTC, handed out in UTC, refused without a time zone."""

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
    """A frozen dataclass, or a tuple of them, as JSON; `form` is its type. None is NULL."""

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
    """A column of an enum's values, in text: a new value needs no migration."""
    return Enum(kind, native_enum=False, length=32, values_callable=lambda members: [m.value for m in members])
