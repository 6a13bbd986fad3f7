"""What is sealed for a tenant is all of its rows: every table has a tenant."""

from proviso_service.backends.sql.conversation_tables import turns


def test_every_table_has_the_tenant_of_its_rows() -> None:
    assert [name for name, table in turns.metadata.tables.items() if "tenant" not in table.columns] == []
