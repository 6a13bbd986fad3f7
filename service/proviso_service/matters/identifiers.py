"""Ids as callers send them."""

from collections.abc import Sequence
from uuid import UUID

from proviso_service.errors import FieldViolation, InvalidRequest

DOCUMENTATION = "documentation"
"""Stands where a matter's id does and means the tenant's documentation, which belongs to no matter. It is no UUID, so
nothing that asks for a matter reaches it."""

_UUID_LENGTH = 36


def is_uuid(value: str) -> bool:
    """Whether it is a UUID in its usual form: 36 characters, four hyphens."""
    if len(value) != _UUID_LENGTH:
        return False
    try:
        return str(UUID(value)) == value.lower()
    except ValueError:
        return False


def uuid_of(field: str, value: str) -> str:
    """The UUID in lower case. Raises InvalidRequest when it is malformed."""
    if not is_uuid(value):
        raise InvalidRequest.of(field, "must be a UUID")
    return value.lower()


def matter_or_documentation(field: str, value: str) -> str:
    """A matter's UUID in lower case, or DOCUMENTATION. Raises InvalidRequest when it is neither."""
    return value if value == DOCUMENTATION else uuid_of(field, value)


def uuids_of(field: str, values: Sequence[str]) -> tuple[str, ...]:
    """The UUIDs in lower case, each once, in order. Raises InvalidRequest that names every malformed one."""
    violations = [
        FieldViolation(f"{field}[{index}]", "must be a UUID")
        for index, value in enumerate(values)
        if not is_uuid(value)
    ]
    if violations:
        raise InvalidRequest(violations)
    return tuple(dict.fromkeys(value.lower() for value in values))
