"""What is sealed for a tenant is all of its rows: every table has a tenant, but for one that is made from the
operator's catalog, and made again where it is missing."""

from proviso_service.backends.sql.schema import METADATA


def test_every_table_has_the_tenant_of_its_rows() -> None:
    without = [name for name, table in METADATA.tables.items() if "tenant" not in table.columns]
    assert without == ["catalog_vectors"]
