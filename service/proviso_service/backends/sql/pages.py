"""Pages of a query's rows. A page begins after the key of the last row before it, so that rows that are added or
deleted meanwhile do not shift it."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    tuple_,
)

from proviso_service.errors import InvalidRequest
from proviso_service.paging import PageRequest, page_token


@dataclass(frozen=True, slots=True)
class Order:
    """The order of the rows: by `time`, then by the id `tie`. `scope` identifies the list: a page token of one list is
    refused by every other."""

    time: ColumnElement[datetime]
    tie: ColumnElement[str]
    scope: tuple[str, ...]
    newest_first: bool = False


def rows_by_time(
    transaction: Connection, query: Select[Any], order: Order, page: PageRequest
) -> tuple[Sequence[Row[Any]], str]:
    """The rows of the page and the token of the next page (empty on the last). Raises InvalidRequest for a token that
    this list did not make."""
    key = tuple_(order.time, order.tie)
    after = start_after(page, order.scope, 2)
    if after is not None:
        last = (_moment(after[0]), after[1])
        query = query.where(key < last if order.newest_first else key > last)
    direction = (order.time.desc(), order.tie.desc()) if order.newest_first else (order.time, order.tie)
    query = query.order_by(*direction).limit(page.size + 1)
    rows = (transaction.execute(query.add_columns(order.time.label("page_time"), order.tie.label("page_tie")))).all()
    if len(rows) <= page.size:
        return rows, ""
    last_row = rows[page.size - 1]
    return rows[: page.size], next_token(order.scope, last_row.page_time.isoformat(), last_row.page_tie)


def next_token(scope: tuple[str, ...], *key: str) -> str:
    return page_token(_tag(scope), *key)


def start_after(page: PageRequest, scope: tuple[str, ...], length: int) -> list[str] | None:
    """The key of the last item before the page, as `length` strings; None for the first page. Raises InvalidRequest."""
    key = page.after(length + 1)
    if key is None:
        return None
    if key[0] != _tag(scope) or not all(_is_text(part) for part in key):
        raise foreign_token()
    return key[1:]


def foreign_token() -> InvalidRequest:
    return InvalidRequest.of("page_token", "is not a token that this method returned")


def _moment(value: str) -> datetime:
    try:
        return datetime.fromisoformat(value).astimezone(UTC)
    except (ValueError, OverflowError):
        raise foreign_token() from None


def _is_text(value: str) -> bool:
    """Whether a database can store the text. JSON can hold a lone surrogate, which cannot be encoded."""
    return not any("\ud800" <= character <= "\udfff" for character in value)


def _tag(scope: tuple[str, ...]) -> str:
    return hashlib.sha256(json.dumps(scope).encode()).hexdigest()[:12]
