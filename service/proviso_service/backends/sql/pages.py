"""Pages of a query's rows. A page begins after the key of the last row before it, so that rows that are added or
deleted meanwhile do not shift it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Integer, Row, Select, bindparam, func, tuple_

from proviso_service.paging import Page, PageRequest, moment_in, page_token


class RowsByTime:
    """The rows of `query`, ordered by `time`, then by the id `tie`. The statements are built once, because building one
    takes longer than running it: what differs between calls are parameters of the query."""

    def __init__(
        self, query: Select[Any], time: ColumnElement[datetime], tie: ColumnElement[str], *, newest_first: bool = False
    ) -> None:
        key = tuple_(time, tie)
        last = tuple_(bindparam("last_time", type_=time.type), bindparam("last_tie", type_=tie.type))
        direction = (time.desc(), tie.desc()) if newest_first else (time, tie)
        shown = query.add_columns(time.label("page_time"), tie.label("page_tie")).order_by(*direction)
        self._first = shown.limit(bindparam("most_rows", type_=Integer))
        self._later = self._first.where(key < last if newest_first else key > last)
        self._count = query.with_only_columns(func.count(), maintain_column_froms=True)

    def page(
        self, transaction: Connection, values: Mapping[str, object], scope: tuple[str, ...], page: PageRequest
    ) -> Page[Row[Any]]:
        """The rows of the page, for these values of the query's parameters. `scope` identifies the list: a page token
        of one list is refused by every other. Raises InvalidRequest for a token that this list did not make."""
        after = page.after(scope, 2)
        most = {**values, "most_rows": page.size + 1}
        if after is None:
            rows = transaction.execute(self._first, most).all()
        else:
            last = {"last_time": moment_in(after[0]), "last_tie": after[1]}
            rows = transaction.execute(self._later, most | last).all()
        if after is None and len(rows) <= page.size:
            return Page(rows, "", len(rows))
        total_size = transaction.execute(self._count, dict(values)).scalar_one()
        if len(rows) <= page.size:
            return Page(rows, "", total_size)
        last_row = rows[page.size - 1]
        token = page_token(scope, last_row.page_time.isoformat(), last_row.page_tie)
        return Page(rows[: page.size], token, total_size)
