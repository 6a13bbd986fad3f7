"""How vectors are spread over collections, and the note in the folder that says so.

A collection per matter would need four open files and 2.6 MB each, and one for all would make every search filter
every vector; so a fixed number of collections share the matters. A folder written with one layout cannot be read with
another.
"""

import hashlib
from dataclasses import dataclass

VERSION = 2


@dataclass(frozen=True, slots=True)
class VectorLayout:
    """Number of collections, number of values in a vector, and the model that makes the vectors."""

    collections: int
    dimensions: int
    model_id: str
    version: int = VERSION

    @property
    def names(self) -> tuple[str, ...]:
        """Of all collections."""
        return tuple(_name(number) for number in range(self.collections))

    def collection_of(self, tenant: str, matter_id: str) -> str:
        """The name of the collection that holds a matter; the same in every process and release."""
        digest = hashlib.blake2b(scope_of(tenant, matter_id).encode(), digest_size=8).digest()
        return _name(int.from_bytes(digest) % self.collections)


def scope_of(tenant: str, matter_id: str) -> str:
    """One value for tenant and matter; the length keeps apart pairs that would read alike when joined."""
    return f"{len(tenant)}:{tenant}:{matter_id}"


def index_id(tenant: str, chunk_id: str) -> str:
    """The id of a chunk in the index: equal chunk ids of two tenants never meet."""
    return f"{len(tenant)}:{tenant}:{chunk_id}"


def tenant_and_chunk(index_id: str) -> tuple[str, str]:
    """The inverse of `index_id`. Raises ValueError for an id that it did not make."""
    length, _, rest = index_id.partition(":")
    size = int(length)
    return rest[:size], rest[size + 1 :]


def _name(number: int) -> str:
    return f"vectors-{number:03}"
