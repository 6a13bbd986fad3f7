"""Creates the tables of deletions and of the matters that turns know, and fills the latter for turns that there are."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

COUNTS = ("documents", "turns", "messages", "size_bytes")

OWN_MATTERS = """
    INSERT OR IGNORE INTO turn_matters (tenant, turn_id, matter_id)
    SELECT tenant, turn_id, matter_id FROM (
        SELECT tenant, turn_id, json_extract(final_state, '$.request_context.matter_context.matter_id') AS matter_id
        FROM turns
        UNION
        SELECT tenant, turn_id, json_extract(request_context, '$.matter_context.matter_id') FROM messages
        UNION
        SELECT turns.tenant, turns.turn_id, json_extract(sessions.matter_context, '$.matter_id')
        FROM turns JOIN sessions USING (tenant, user_id, session_id) WHERE turns.state != 'ended'
    ) WHERE turn_id != '' AND matter_id != ''
"""

MATTERS_OF_EARLIER_TURNS = """
    INSERT OR IGNORE INTO turn_matters (tenant, turn_id, matter_id)
    SELECT later.tenant, later.turn_id, turn_matters.matter_id
    FROM turn_matters
    JOIN messages AS earlier USING (tenant, turn_id)
    JOIN messages AS later ON later.tenant = earlier.tenant AND later.session_key = earlier.session_key
        AND later.position > earlier.position
    WHERE later.turn_id != ''
"""


def upgrade(op: Operations) -> None:
    texts = (sa.Column(name, sa.String(), nullable=False) for name in ("kind", "user_id", "matter_id", "resource_id"))
    incomplete = sa.text("complete_time IS NULL")
    op.create_table(
        "deletions",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("deletion_id", sa.String(), nullable=False),
        *texts,
        sa.Column("request_time", sa.DateTime(timezone=True), nullable=False),
        sa.Column("complete_time", sa.DateTime(timezone=True)),
        *(sa.Column(name, sa.Integer(), nullable=False, server_default="0") for name in COUNTS),
        sa.PrimaryKeyConstraint("tenant", "deletion_id", name="pk_deletions"),
    )
    columns = ["tenant", "request_time", "deletion_id"]
    op.create_index("ix_deletions_tenant_request_time_deletion_id", "deletions", columns)
    columns = ["tenant", "matter_id"]
    op.create_index(
        "ix_deletions_incomplete", "deletions", columns, sqlite_where=incomplete, postgresql_where=incomplete
    )
    op.create_table(
        "turn_matters",
        *(sa.Column(name, sa.String(), nullable=False) for name in ("tenant", "turn_id", "matter_id")),
        sa.PrimaryKeyConstraint("tenant", "turn_id", "matter_id", name="pk_turn_matters"),
    )
    op.create_index("ix_turn_matters_tenant_matter_id", "turn_matters", columns)
    op.create_index("ix_messages_tenant_turn_id", "messages", ["tenant", "turn_id"])
    op.execute(OWN_MATTERS)
    op.execute(MATTERS_OF_EARLIER_TURNS)
