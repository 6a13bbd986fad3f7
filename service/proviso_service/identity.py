"""The caller of a method."""

from dataclasses import dataclass

LOCAL_TENANT = "local"


@dataclass(frozen=True, slots=True)
class Caller:
    """Tenant and user on whose behalf a call runs; every row, vector, blob and cache key is scoped by the tenant."""

    tenant: str
    user: str
