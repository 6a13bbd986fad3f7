"""What the database itself refuses: to change the audit, and, on PostgreSQL, to show a transaction the rows of a tenant
that it is not of."""

from collections.abc import Sequence

from sqlalchemy import DDL, MetaData, Table, event

TENANT_SETTING = "proviso.tenant"
"""The setting of a transaction on PostgreSQL that says whose rows it sees: those of the tenant t where it is `=t`,
those of all tenants where it is `*`, and none where it is not set."""

_MESSAGE = "audit events are only ever appended"
_NOT_AT_THE_END = "SELECT 1 FROM audit_events WHERE tenant = NEW.tenant AND sequence >= NEW.sequence"
_REFUSE = f"BEGIN SELECT RAISE(ABORT, '{_MESSAGE}'); END"

_ON_SQLITE = (
    f"CREATE TRIGGER audit_events_no_update BEFORE UPDATE ON audit_events {_REFUSE}",
    f"CREATE TRIGGER audit_events_no_delete BEFORE DELETE ON audit_events {_REFUSE}",
    f"CREATE TRIGGER audit_events_in_order BEFORE INSERT ON audit_events WHEN EXISTS ({_NOT_AT_THE_END}) {_REFUSE}",
)

_ON_POSTGRES = (
    f"""CREATE FUNCTION audit_events_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF TG_OP <> 'INSERT' OR EXISTS ({_NOT_AT_THE_END}) THEN RAISE EXCEPTION '{_MESSAGE}'; END IF;
  RETURN NEW;
END $$""",
    *(
        f"CREATE TRIGGER audit_events_{name} BEFORE {when} ON audit_events FOR EACH {each}"
        " EXECUTE FUNCTION audit_events_refuse()"
        for name, when, each in (
            ("no_update", "UPDATE", "ROW"),
            ("no_delete", "DELETE", "ROW"),
            ("no_truncate", "TRUNCATE", "STATEMENT"),
            ("in_order", "INSERT", "ROW"),
        )
    ),
)


def wall_of(table: str) -> Sequence[str]:
    """The statements by which PostgreSQL shows the rows of this table to transactions of their tenant only. A migration
    that makes a table has to carry them out there; a test looks at all tables."""
    seen = f"current_setting('{TENANT_SETTING}', true) IN ('=' || tenant, '*')"
    return (
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
        f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY",  # the owner of the table is the service itself
        f"CREATE POLICY tenant_wall ON {table} USING ({seen})",
    )


def guard(metadata: MetaData, audit: Table) -> None:
    """Has all these statements carried out whenever the tables are made."""
    for statement in _ON_SQLITE:
        _listen(audit, statement, "sqlite")
    for statement in _ON_POSTGRES:
        _listen(audit, statement, "postgresql")
    for table in metadata.tables.values():
        if "tenant" in table.columns:
            for statement in wall_of(table.name):
                _listen(table, statement, "postgresql")


def _listen(table: Table, statement: str, dialect: str) -> None:
    ddl = DDL(statement.replace("%", "%%"))  # type: ignore[no-untyped-call]
    event.listen(table, "after_create", ddl.execute_if(dialect=dialect))
