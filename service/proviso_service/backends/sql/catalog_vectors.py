"""SqlCatalogVectors keeps the vectors of the catalog's items."""

from collections.abc import Mapping, Sequence

import numpy as np
from sqlalchemy import Connection, delete, select

from proviso_service.backends.sql.database import Store, across_tenants, growing, reading
from proviso_service.backends.sql.dialects import insert
from proviso_service.backends.sql.tables import catalog_vectors
from proviso_service.models import Vectors

MAX_VECTORS = 20_000
_HASHES_PER_QUERY = 500
_FLOATS = np.dtype("<f4")


class SqlCatalogVectors(Store):
    """A VectorCache in a Database, for texts of the operator's catalog: they belong to no tenant. Where there are more
    than MAX_VECTORS, the earliest ones are dropped."""

    @reading
    @across_tenants
    def get(self, transaction: Connection, model_id: str, hashes: Sequence[str]) -> Mapping[str, Vectors]:
        rows = catalog_vectors.c
        found: dict[str, Vectors] = {}
        for start in range(0, len(hashes), _HASHES_PER_QUERY):
            some = hashes[start : start + _HASHES_PER_QUERY]
            query = select(rows.content_sha256, rows.vector).where(
                rows.model_id == model_id, rows.content_sha256.in_(some)
            )
            for sha256, vector in transaction.execute(query):
                found[sha256] = np.frombuffer(vector, _FLOATS)
        return found

    @growing
    @across_tenants
    def put(self, transaction: Connection, model_id: str, vectors: Mapping[str, Vectors]) -> None:
        made = [
            {"model_id": model_id, "content_sha256": sha256, "vector": vector.astype(_FLOATS).tobytes()}
            for sha256, vector in vectors.items()
        ]
        transaction.execute(insert(catalog_vectors).on_conflict_do_nothing(), made)
        kept = select(catalog_vectors.c.row_id).order_by(catalog_vectors.c.row_id.desc()).limit(MAX_VECTORS)
        transaction.execute(delete(catalog_vectors).where(catalog_vectors.c.row_id.not_in(kept)))
