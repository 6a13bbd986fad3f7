"""On whose behalf a call runs."""

from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from enum import StrEnum

LOCAL_TENANT = "local"
LOCAL_USER = "local"


class Role(StrEnum):
    """What a credential may do in its tenant, beside what its user may do in the matters that he is a member of.
    OPERATOR is for the service itself: its index, its catalog and the ratings of answers."""

    ADMIN = "admin"
    AUDITOR = "auditor"
    OPERATOR = "operator"
    ACT_FOR_USERS = "act_for_users"


@dataclass(frozen=True, slots=True)
class Caller:
    """The tenant and the user on whose behalf a call runs. Whatever is stored belongs to a tenant, and no tenant sees
    the data of another.

    `roles` and `key` come from the credential of the call: `key` names an API key, a client certificate or the issuer
    of a token. `matters` are the only ones that the credential opens; None for all that the user may see."""

    tenant: str
    user: str
    roles: frozenset[Role] = field(default=frozenset(), compare=False)
    matters: frozenset[str] | None = field(default=None, compare=False)
    key: str = field(default="", compare=False)

    def for_user(self, user: str) -> "Caller":
        """The same caller acting for another user. It has that user's rights and not those of the credential; without
        credentials every user may do everything."""
        if user == self.user:
            return self
        roles = self.roles & {Role.ACT_FOR_USERS} if self.key else self.roles
        return replace(self, user=user, roles=roles)


LOCAL_CALLER = Caller(LOCAL_TENANT, LOCAL_USER, frozenset(Role))
"""The caller of every call where the service asks for no credentials."""


@dataclass(frozen=True, slots=True)
class Act:
    """What is being done: the call of `method` by `caller` from the network address `peer`, under `request_id`."""

    caller: Caller
    method: str = ""
    peer: str = ""
    request_id: str = ""


current_act: ContextVar[Act] = ContextVar("current_act")
"""The act that the running task is a part of. It belongs to the task, and tasks that it starts inherit it. There is
none at the start of the process and in its own work, such as the clearing of what was deleted."""


@dataclass(frozen=True, slots=True)
class RetryKey:
    """Tells the retry of a call that makes something from a new call: the user who made it, the id that he gave it
    (empty for none), and the SHA-256, in hexadecimal, of what it asks for."""

    user: str = ""
    request_id: str = ""
    payload_sha256: str = ""


NEVER_RETRIED = RetryKey()
"""The key of a call without a request id."""
