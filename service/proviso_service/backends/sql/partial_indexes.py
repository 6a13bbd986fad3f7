"""Indexes of those rows that meet a condition."""

from typing import Any

from sqlalchemy import Index, TextClause
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import CreateIndex
from sqlalchemy.sql.compiler import DDLCompiler

_WHERE = "where"


def partial_index(name: str, *columns: str, where: TextClause, unique: bool = False) -> Index:
    """An index of the rows that meet the condition, in SQLite and in PostgreSQL.

    PostgreSQL is told when the index is made there. An index that names an option of it has SQLAlchemy import all that
    it knows of PostgreSQL, at each start and with every other database too."""
    return Index(name, *columns, unique=unique, sqlite_where=where, info={_WHERE: where})


@compiles(CreateIndex, "postgresql")
def _with_condition(create: CreateIndex, compiler: DDLCompiler, **options: Any) -> str:
    index = create.element
    if _WHERE in index.info:
        index.dialect_kwargs["postgresql_where"] = index.info[_WHERE]
    made: str = compiler.visit_create_index(create, **options)  # type: ignore[no-untyped-call]
    return made
