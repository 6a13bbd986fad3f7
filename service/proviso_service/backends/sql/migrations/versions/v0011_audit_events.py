"""Creates the table of the audit, to which events are only ever appended."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

WHAT = ("time", "user_id", "key", "method", "action", "resource", "resource_id", "matter_id", "outcome")
WHENCE = ("peer", "request_id", "previous_hash", "hash")


def upgrade(op: Operations) -> None:
    texts = (sa.Column(name, sa.String(), nullable=False) for name in (*WHAT, *WHENCE))
    op.create_table(
        "audit_events",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        *texts,
        sa.PrimaryKeyConstraint("tenant", "sequence", name="pk_audit_events"),
    )
    columns = ["tenant", "matter_id", "sequence"]
    op.create_index("ix_audit_events_tenant_matter_id_sequence", "audit_events", columns)
    for change in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER audit_events_no_{change.lower()} BEFORE {change} ON audit_events "
            "BEGIN SELECT RAISE(ABORT, 'audit events are only ever appended'); END"
        )
    # INSERT OR REPLACE deletes a row without its trigger.
    op.execute(
        "CREATE TRIGGER audit_events_in_order BEFORE INSERT ON audit_events WHEN EXISTS "
        "(SELECT 1 FROM audit_events WHERE tenant = NEW.tenant AND sequence >= NEW.sequence) "
        "BEGIN SELECT RAISE(ABORT, 'audit events are only ever appended'); END"
    )
