"""The languages of documents; empty for those that were read before."""

import sqlalchemy as sa
from alembic.operations import Operations

from proviso_service.backends.sql.column_types import NAME

revision = "0020"
down_revision = "0019"


def upgrade(op: Operations) -> None:
    op.add_column("documents", sa.Column("language", NAME, nullable=False, server_default=""))
