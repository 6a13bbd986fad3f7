"""On whose behalf a call runs."""

from dataclasses import dataclass

LOCAL_TENANT = "local"


@dataclass(frozen=True, slots=True)
class Caller:
    """The tenant and the user on whose behalf a call runs. Whatever is stored belongs to a tenant, and no tenant sees
    the data of another."""

    tenant: str
    user: str
