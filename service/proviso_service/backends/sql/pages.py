"""Pages of a query's rows. A page begins after the key of the last row before it, so that rows that are added or
deleted meanwhile do not shift it."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, func, tuple_

from proviso_service.paging import Page, PageRequest, foreign_token, page_token


@dataclass(frozen=True, slots=True)
class Order:
    """The order of the rows: by `time`, then by the id `tie`. `scope` identifies the list: a page token of one list is
    refused by every other."""

    time: ColumnElement[datetime]
    tie: ColumnElement[str]
    scope: tuple[str, ...]
    newest_first: bool = False


def rows_by_time(transaction: Connection, query: Select[Any], order: Order, page: PageRequest) -> Page[Row[Any]]:
    """The rows of the page. Raises InvalidRequest for a token that this list did not make."""
    counting = query.with_only_columns(func.count(), maintain_column_froms=True)
    total_size = transaction.execute(counting).scalar_one()
    key = tuple_(order.time, order.tie)
    after = page.after(order.scope, 2)
    if after is not None:
        last = (_moment(after[0]), after[1])
        query = query.where(key < last if order.newest_first else key > last)
    direction = (order.time.desc(), order.tie.desc()) if order.newest_first else (order.time, order.tie)
    query = query.order_by(*direction).limit(page.size + 1)
    rows = (transaction.execute(query.add_columns(order.time.label("page_time"), order.tie.label("page_tie")))).all()
    if len(rows) <= page.size:
        return Page(rows, "", total_size)
    last_row = rows[page.size - 1]
    token = page_token(order.scope, last_row.page_time.isoformat(), last_row.page_tie)
    return Page(rows[: page.size], token, total_size)


def _moment(value: str) -> datetime:
    try:
        return datetime.fromisoformat(value).astimezone(UTC)
    except (ValueError, OverflowError):
        raise foreign_token() from None
