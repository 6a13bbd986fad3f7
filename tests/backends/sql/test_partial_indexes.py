"""Partial indexes have their condition in every database that the state may be kept in."""

import pytest
from sqlalchemy import Column, Index, MetaData, String, Table, create_mock_engine, text
from sqlalchemy.schema import CreateIndex

from proviso_service.backends.sql.partial_indexes import partial_index
from proviso_service.backends.sql.schema import METADATA


def _made(index: Index, database: str) -> str:
    engine = create_mock_engine(f"{database}://", lambda *_: None)
    return str(CreateIndex(index).compile(dialect=engine.dialect))


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_every_condition_is_made_with_its_index(database: str) -> None:
    indexes = {index for table in METADATA.tables.values() for index in table.indexes}
    conditions = {index.name: index.info["where"].text for index in indexes if "where" in index.info}
    made = {index.name: _made(index, database) for index in indexes}
    assert len(conditions) == 9
    assert all(made[name].endswith(f" WHERE {condition}") for name, condition in conditions.items())
    assert {name for name, statement in made.items() if " WHERE " in statement} == set(conditions)


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_unique_index_may_be_partial(database: str) -> None:
    index = partial_index("uq", "state", where=text("x = 1"), unique=True)
    Table("letters", MetaData(), Column("state", String), index)
    assert _made(index, database) == "CREATE UNIQUE INDEX uq ON letters (state) WHERE x = 1"
