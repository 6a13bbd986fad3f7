"""Who may do what: one table, and one function that asks it."""

from collections.abc import Mapping
from enum import Enum, IntEnum, auto
from typing import Protocol

from proviso_service.errors import MatterNotFound, NotAllowed
from proviso_service.identity import Caller, Role


class MatterRole(IntEnum):
    """What a member of a matter may do there; each role includes those before it."""

    READER = 1
    EDITOR = 2
    OWNER = 3


class Action(Enum):
    """What callers do, by what it needs."""

    USE = auto()
    """Anything of the caller's own: conversations, new matters, the catalog, the documentation."""

    READ_MATTER = auto()
    EDIT_MATTER = auto()
    """Uploading and deleting documents, and changing the matter's name and notes."""

    OWN_MATTER = auto()
    """Deleting and exporting the matter, and managing its members."""

    HOLD_MATTER = auto()
    """Setting and lifting a legal hold."""

    ADMINISTER = auto()
    AUDIT = auto()
    OPERATE = auto()


_NEEDED: Mapping[Action, MatterRole | Role | None] = {
    Action.USE: None,
    Action.READ_MATTER: MatterRole.READER,
    Action.EDIT_MATTER: MatterRole.EDITOR,
    Action.OWN_MATTER: MatterRole.OWNER,
    Action.HOLD_MATTER: Role.ADMIN,
    Action.ADMINISTER: Role.ADMIN,
    Action.AUDIT: Role.AUDITOR,
    Action.OPERATE: Role.OPERATOR,
}


class Members(Protocol):
    """Who is a member of which matter."""

    async def role_of(self, tenant: str, matter_id: str, user: str) -> MatterRole | None:
        """The user's role in the matter; None for one who is no member, and for a matter that does not exist."""
        ...


class Authorisation:
    """Asks the table whether a caller may do something."""

    def __init__(self, members: Members) -> None:
        self._members = members

    async def authorise(self, caller: Caller, action: Action, matter_id: str = "") -> None:
        """Returns where the caller may do it. `matter_id` is the matter that it is done to, for actions on matters.

        Raises MatterNotFound for a matter that the caller may not see, before anything tells whether it exists, and
        NotAllowed where the caller lacks a role. An administrator may do everything in the matters of the tenant; of
        them he is told by whoever looks them up whether they exist."""
        needed = _NEEDED[action]
        if action is Action.HOLD_MATTER:
            await self._in_matter(caller, MatterRole.READER, matter_id)
        if isinstance(needed, Role) and needed not in caller.roles:
            raise NotAllowed(f"This needs a credential with the role {needed}")
        if isinstance(needed, MatterRole):
            await self._in_matter(caller, needed, matter_id)

    async def role_in(self, caller: Caller, matter_id: str) -> MatterRole | None:
        """What the caller may do in a matter that exists; None for nothing."""
        is_open = caller.matters is None or matter_id in caller.matters
        if is_open and Role.ADMIN in caller.roles:
            return MatterRole.OWNER
        # It is looked up for a matter that the credential does not open too: the answers take the same time.
        role = await self._members.role_of(caller.tenant, matter_id, caller.user)
        return role if is_open else None

    async def _in_matter(self, caller: Caller, needed: MatterRole, matter_id: str) -> None:
        role = await self.role_in(caller, matter_id)
        if role is None:
            raise MatterNotFound(matter_id)
        if role < needed:
            needs = f"This needs the role {needed.name.lower()} in the matter"
            raise NotAllowed(f"{needs}, and you are its {role.name.lower()}")
