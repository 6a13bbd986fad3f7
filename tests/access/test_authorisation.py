"""The table of who may do what."""

from dataclasses import dataclass, field
from itertools import product

import pytest

from proviso_service.access import Action, Authenticators, Authorisation, Credentials, MatterRole
from proviso_service.errors import MatterNotFound, NotAllowed, Unauthenticated
from proviso_service.identity import LOCAL_CALLER, Caller, Role

MATTER, OTHER = "25e70284-6124-4a2b-9c89-0123456789ab", "f47ac10b-58cc-4372-a567-0e02b2c3d479"
IN_MATTERS = {Action.READ_MATTER: 1, Action.EDIT_MATTER: 2, Action.OWN_MATTER: 3, Action.HOLD_MATTER: 4}
"""The role that an action needs; 4 for what no member may do who is no administrator."""

BY_ROLE = {Action.ADMINISTER: Role.ADMIN, Action.AUDIT: Role.AUDITOR, Action.OPERATE: Role.OPERATOR}


@dataclass
class OneMember:
    """A Members of one member in one matter; keeps what it was asked."""

    role: MatterRole | None
    asked: list[str] = field(default_factory=list)

    async def role_of(self, tenant: str, matter_id: str, user: str) -> MatterRole | None:
        self.asked.append(matter_id)
        return self.role if (tenant, matter_id, user) == ("smith", MATTER, "ada") else None


async def outcome(caller: Caller, action: Action, role: MatterRole | None, matter: str = MATTER) -> type | None:
    try:
        await Authorisation(OneMember(role)).authorise(caller, action, matter)
    except (MatterNotFound, NotAllowed) as refusal:
        return type(refusal)
    return None


def test_every_action_is_in_this_test() -> None:
    assert set(Action) == {Action.USE, *IN_MATTERS, *BY_ROLE}


@pytest.mark.parametrize(("action", "role"), list(product(IN_MATTERS, [None, *MatterRole])))
async def test_a_member_may_do_what_his_role_includes(action: Action, role: MatterRole | None) -> None:
    expected = MatterNotFound if role is None else NotAllowed if role < IN_MATTERS[action] else None
    for roles in (frozenset[Role](), frozenset(Role) - {Role.ADMIN}):
        assert await outcome(Caller("smith", "ada", roles), action, role) is expected


@pytest.mark.parametrize("action", IN_MATTERS)
async def test_the_same_user_of_another_tenant_is_somebody_else(action: Action) -> None:
    assert await outcome(Caller("jones", "ada"), action, MatterRole.OWNER) is MatterNotFound


@pytest.mark.parametrize("action", IN_MATTERS)
async def test_an_administrator_may_do_everything_in_matters(action: Action) -> None:
    assert await outcome(Caller("smith", "root", frozenset({Role.ADMIN})), action, None) is None


@pytest.mark.parametrize(("action", "role"), list(product(IN_MATTERS, [None, *MatterRole])))
async def test_a_credential_for_some_matters_opens_no_other(action: Action, role: MatterRole | None) -> None:
    for roles in (frozenset[Role](), frozenset(Role)):
        caller = Caller("smith", "ada", roles, frozenset({OTHER}))
        assert await outcome(caller, action, role) is MatterNotFound


async def test_a_credential_for_some_matters_asks_for_the_others_too() -> None:
    members = OneMember(MatterRole.OWNER)
    caller = Caller("smith", "ada", matters=frozenset({OTHER}))
    for matter in (MATTER, OTHER, "no matter"):
        assert await Authorisation(members).role_in(caller, matter) is None
    assert members.asked == [MATTER, OTHER, "no matter"]


@pytest.mark.parametrize(("action", "role"), list(product(BY_ROLE, Role)))
async def test_other_actions_need_exactly_their_role(action: Action, role: Role) -> None:
    expected = None if role is BY_ROLE[action] else NotAllowed
    assert await outcome(Caller("smith", "ada", frozenset({role})), action, MatterRole.OWNER) is expected


async def test_everybody_may_use_what_is_his_own() -> None:
    assert await outcome(Caller("smith", "ada"), Action.USE, None, "") is None


def test_acting_for_a_user_leaves_the_rights_of_the_credential_behind() -> None:
    service = Caller("smith", "gateway", frozenset(Role), frozenset({MATTER}), "pvk_1")
    acting = service.for_user("ada")
    assert (acting.tenant, acting.user, acting.key) == ("smith", "ada", "pvk_1")
    assert acting.roles == {Role.ACT_FOR_USERS}
    assert acting.matters == frozenset({MATTER})
    assert acting.for_user("gateway").roles == {Role.ACT_FOR_USERS}
    assert service.for_user("gateway").roles == frozenset(Role)
    assert LOCAL_CALLER.for_user("ada").roles == frozenset(Role)


class Kind:
    """An Authenticator of tokens that begin with its name."""

    def __init__(self, name: str, caller: Caller | None) -> None:
        self._name = name
        self._caller = caller

    async def authenticate(self, credentials: Credentials) -> Caller | None:
        if credentials.token.startswith(self._name) and self._caller is None:
            raise Unauthenticated("bad")
        return self._caller if credentials.token.startswith(self._name) else None


async def test_the_first_kind_that_knows_credentials_decides() -> None:
    ada, bob = Caller("smith", "ada"), Caller("smith", "bob")
    kinds = Authenticators([Kind("a", ada), Kind("b", None), Kind("", bob)])
    assert await kinds.authenticate(Credentials("a")) == ada
    assert await kinds.authenticate(Credentials("c")) == bob
    with pytest.raises(Unauthenticated, match="bad"):
        await kinds.authenticate(Credentials("b"))


async def test_calls_without_known_credentials_are_refused() -> None:
    with pytest.raises(Unauthenticated, match="no kind"):
        await Authenticators([Kind("a", None)]).authenticate(Credentials("b"))
    with pytest.raises(Unauthenticated, match="authorization: Bearer"):
        await Authenticators([Kind("a", None)]).authenticate(Credentials())
