"""JSON Web Tokens of an identity provider."""

import hashlib
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jwt
from jwt import PyJWK

from proviso_service.access.credentials import Credentials
from proviso_service.access.key_sets import ALGORITHMS, KeySet
from proviso_service.errors import Unauthenticated
from proviso_service.identity import Caller, Role

MAX_TOKEN_CHARS = 8_192
LEEWAY_S = 30.0
"""How far the clocks of the provider and the service may differ."""

MAX_VERIFIED = 2_048
"""Tokens that are known to be sound, so that a signature is not checked again in each call."""

MAX_TENANT_CHARS = 128
MAX_USER_CHARS = 128

_FORM = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class TokenRules:
    """Which tokens are accepted, and the claims that name the tenant, the user, the roles and the only matters that
    the token opens. A dot leads into a claim that is an object, as in `realm_access.roles`."""

    issuer: str
    audience: str
    tenant_claim: str = "tenant"
    user_claim: str = "sub"
    roles_claim: str = "roles"
    matters_claim: str = "matters"


@dataclass(frozen=True, slots=True)
class _Verified:
    """Whom a token is of that was found sound at `since`, with a key; `expires` is its own claim."""

    caller: Caller
    key_id: str
    key: PyJWK
    since: float
    expires: int


class Tokens:
    """Recognises the callers of signed tokens. The algorithm is the one of the key, never one that the token chooses;
    issuer, audience and expiry have to be there and to be right.

    A token is checked once, and again when the key set was read anew: until then its hash is known, and nothing that
    opens anything is kept. `clock` is that of the system, in seconds since 1970."""

    def __init__(self, rules: TokenRules, keys: KeySet, clock: Callable[[], float] = time.time) -> None:
        self._rules = rules
        self._keys = keys
        self._clock = clock
        self._verified: dict[bytes, _Verified] = {}

    async def authenticate(self, credentials: Credentials) -> Caller | None:
        token = credentials.token
        if not _FORM.fullmatch(token):
            return None
        if len(token) > MAX_TOKEN_CHARS:
            raise Unauthenticated(f"The token is longer than {MAX_TOKEN_CHARS} characters")
        digest = hashlib.sha256(token.encode()).digest()
        verified = self._verified.get(digest)
        if verified is None or not await self._is_sound(verified):
            self._verified.pop(digest, None)
            verified = await self._verify(token)
            while len(self._verified) >= MAX_VERIFIED:
                del self._verified[next(iter(self._verified))]
            self._verified[digest] = verified
        return verified.caller

    async def _is_sound(self, verified: _Verified) -> bool:
        """Whether a token would be found sound again. A clock that was set back may make it one of the future."""
        now = self._clock()
        is_valid = now >= verified.since and now - LEEWAY_S < verified.expires
        return is_valid and await self._keys.find(verified.key_id) is verified.key

    async def _verify(self, token: str) -> _Verified:
        try:
            header = jwt.get_unverified_header(token)
            named = header.get("kid", "")
            key_id = named if isinstance(named, str) else ""
            key = await self._keys.find(key_id)
            if key is None or header.get("alg") != key.algorithm_name or key.algorithm_name not in ALGORITHMS:
                raise Unauthenticated("The token is signed with a key that the service does not know")
            since, claims = self._clock(), self._claims(token, key)
            return _Verified(self._caller(claims), key_id, key, since, int(claims["exp"]))
        except (jwt.PyJWTError, ValueError, RecursionError):
            # Which check it failed is of no use to those who did not make it.
            raise Unauthenticated(_INVALID) from None

    def _claims(self, token: str, key: PyJWK) -> Mapping[str, Any]:
        rules = self._rules
        try:
            return jwt.decode(
                token,
                key,
                algorithms=[key.algorithm_name],
                issuer=rules.issuer,
                audience=rules.audience,
                leeway=LEEWAY_S,
                options={"require": ["exp", "iss", "aud"]},
            )
        except jwt.ExpiredSignatureError:
            raise Unauthenticated("The token has expired") from None

    def _caller(self, claims: Mapping[str, Any]) -> Caller:
        rules = self._rules
        tenant, user = _named(claims, rules.tenant_claim), _named(claims, rules.user_claim)
        is_sound = isinstance(tenant, str) and isinstance(user, str) and 0 < len(tenant) <= MAX_TENANT_CHARS
        if not is_sound or not 0 < len(user) <= MAX_USER_CHARS or not (tenant + user).isprintable():
            raise Unauthenticated(f"The token names no tenant ({rules.tenant_claim}) or no user ({rules.user_claim})")
        matters = _named(claims, rules.matters_claim)
        if matters is not None and not isinstance(matters, list):
            raise Unauthenticated(_INVALID)
        return Caller(
            tenant,
            user,
            _roles(_named(claims, rules.roles_claim)),
            None if matters is None else frozenset(matter.lower() for matter in matters if isinstance(matter, str)),
            rules.issuer,
        )


_INVALID = "The token is not valid for this service"


def _named(claims: Mapping[str, Any], path: str) -> Any:
    """The claim at a path; None where there is none. A claim whose own name has dots, as that of an address, is found
    by that name."""
    if path in claims:
        return claims[path]
    value: Any = claims
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _roles(claim: object) -> frozenset[Role]:
    """The roles that the service knows among those of a claim, which is a list or a text with blanks between them."""
    named = claim.split() if isinstance(claim, str) else claim if isinstance(claim, list) else []
    known = {role.value for role in Role}
    return frozenset(Role(name) for name in named if isinstance(name, str) and name in known)
