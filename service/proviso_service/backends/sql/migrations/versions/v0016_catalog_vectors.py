"""The vectors of the catalog's items, so that a start need not make them again."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0016"
down_revision = "0015"


def upgrade(op: Operations) -> None:
    op.create_table(
        "catalog_vectors",
        sa.Column("row_id", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.String(), nullable=False) for name in ("model_id", "content_sha256")),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("row_id", name="pk_catalog_vectors"),
        sa.UniqueConstraint("model_id", "content_sha256", name="uq_catalog_vectors_model_id_content_sha256"),
    )
