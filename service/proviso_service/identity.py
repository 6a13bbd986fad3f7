"""On whose behalf a call runs."""

from dataclasses import dataclass

LOCAL_TENANT = "local"


@dataclass(frozen=True, slots=True)
class Caller:
    """The tenant and the user on whose behalf a call runs. Whatever is stored belongs to a tenant, and no tenant sees
    the data of another."""

    tenant: str
    user: str


@dataclass(frozen=True, slots=True)
class RetryKey:
    """Tells the retry of a call that makes something from a new call: the user who made it, the id that he gave it
    (empty for none), and the SHA-256, in hexadecimal, of what it asks for."""

    user: str = ""
    request_id: str = ""
    payload_sha256: str = ""


NEVER_RETRIED = RetryKey()
"""The key of a call without a request id."""
