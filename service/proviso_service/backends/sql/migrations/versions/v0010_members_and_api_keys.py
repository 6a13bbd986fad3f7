"""Creates the tables of members and of API keys, and has ratings listed by tenant."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade(op: Operations) -> None:
    op.create_table(
        "matter_members",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("matter_id", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("role", sa.Integer(), nullable=False),
        sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "matter_id", "user_id", name="pk_matter_members"),
        sa.ForeignKeyConstraint(
            ["tenant", "matter_id"],
            ["matters.tenant", "matters.matter_id"],
            name="fk_matter_members_matters",
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_matter_members_tenant_user_id_matter_id", "matter_members", ["tenant", "user_id", "matter_id"])
    op.create_table(
        "api_keys",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("key_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("roles", sa.String(), nullable=False),
        sa.Column("matters", sa.Text()),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expire_time", sa.DateTime(timezone=True)),
        sa.Column("revoke_time", sa.DateTime(timezone=True)),
        sa.Column("last_use_time", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("key_id", name="pk_api_keys"),
    )
    rated = sa.text("rating IS NOT NULL")
    columns = ["tenant", "rate_time", "turn_id"]
    op.drop_index("ix_turns_rated", "turns")
    op.create_index("ix_turns_rated", "turns", columns, sqlite_where=rated, postgresql_where=rated)
