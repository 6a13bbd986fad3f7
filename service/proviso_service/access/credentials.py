"""Who makes a call: the credentials that it shows, and the kinds of them that the service accepts."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from proviso_service.errors import Unauthenticated
from proviso_service.identity import Caller


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a call shows: the token of its metadata `authorization`, without the word Bearer, and the names in the
    client certificate of its connection: DNS names, addresses and URIs such as a SPIFFE id."""

    token: str = field(default="", repr=False)
    peer_names: tuple[str, ...] = ()


class Authenticator(Protocol):
    """Accepts one kind of credential."""

    async def authenticate(self, credentials: Credentials) -> Caller | None:
        """The caller; None for credentials of another kind. Raises Unauthenticated for bad ones of this kind."""
        ...


class Authenticators:
    """Accepts credentials of several kinds: the first kind in order that knows them decides."""

    def __init__(self, kinds: Sequence[Authenticator]) -> None:
        self._kinds = tuple(kinds)

    async def authenticate(self, credentials: Credentials) -> Caller:
        """Raises Unauthenticated for a call without credentials, and for such as no kind knows."""
        for kind in self._kinds:
            caller = await kind.authenticate(credentials)
            if caller is not None:
                return caller
        if credentials.token:
            raise Unauthenticated("The token of this call is of no kind that the service accepts")
        raise Unauthenticated("The call carries no credentials: send them as metadata `authorization: Bearer <token>`")
