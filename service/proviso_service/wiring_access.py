"""Chooses the credentials that the service accepts."""

import time
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from proviso_service.access import (
    ApiKeys,
    AuditTrail,
    Authenticator,
    Authenticators,
    Authorisation,
    Certificates,
    Quotas,
    UnreadablePeers,
    secret_in,
)
from proviso_service.api.interceptors.authentication import AccessControl, Open
from proviso_service.backends.sql.access import SqlApiKeyStore, SqlMemberStore
from proviso_service.backends.sql.audit import SqlAuditStore
from proviso_service.backends.sql.database import Database
from proviso_service.settings import AuthSettings, Settings, is_safe_url

if TYPE_CHECKING:
    from proviso_service.access import Tokens


class CannotAuthenticate(Exception):
    """What credentials are checked with cannot be used; the message is for the operator."""


async def open_access(
    access: AccessControl, settings: Settings, database: Database, quotas: Quotas, stack: AsyncExitStack
) -> None:
    """Lets calls in, with the credentials and the limits that the settings name. Raises CannotAuthenticate."""
    authorisation = Authorisation(SqlMemberStore(database))
    limits = quotas if settings.limits.any else None
    audit = AuditTrail(SqlAuditStore(database), time.monotonic)
    stack.push_async_callback(audit.close)
    if settings.auth.is_open:
        access.open(Open(), authorisation, audit, limits)
        return
    kinds: list[Authenticator] = []
    try:
        if settings.auth.api_keys:
            kinds.append(ApiKeys(SqlApiKeyStore(database), api_key_secret(settings), database.now))
        if settings.auth.jwks:
            kinds.append(await _tokens(settings.auth, stack))
        if settings.auth.peers_file:
            kinds.append(_certificates(settings))
    except UnreadablePeers as error:
        raise CannotAuthenticate(str(error)) from error
    access.open(Authenticators(kinds), authorisation, audit, limits)


async def _tokens(settings: AuthSettings, stack: AsyncExitStack) -> "Tokens":
    from proviso_service.access import KeySet, TokenRules, Tokens, UnreadableKeySet

    if not settings.issuer or not settings.audience:
        raise CannotAuthenticate("auth.jwks needs auth.issuer and auth.audience, which tokens have to name")
    if "://" in settings.jwks and not is_safe_url(settings.jwks):
        raise CannotAuthenticate(f"Keys have to come from a file or an https address, and not from {settings.jwks}")
    keys = KeySet(settings.jwks)
    stack.push_async_callback(keys.close)
    try:
        await keys.open()
    except UnreadableKeySet as error:
        raise CannotAuthenticate(str(error)) from error
    claims = (settings.tenant_claim, settings.user_claim, settings.roles_claim)
    return Tokens(TokenRules(settings.issuer, settings.audience, *claims), keys)


def _certificates(settings: Settings) -> Certificates:
    if settings.auth.peers_file is None or settings.server.tls_client_ca is None:
        raise CannotAuthenticate("auth.peers_file needs server.tls_client_ca: no client would show a certificate")
    certificates = Certificates(settings.auth.peers_file)
    certificates.open()
    return certificates


def api_key_secret(settings: Settings) -> bytes:
    """What API keys are hashed with. Raises CannotAuthenticate."""
    if settings.auth.key_secret:
        return settings.auth.key_secret.get_secret_value().encode()
    try:
        return secret_in(settings.data_dir / "secrets")
    except (OSError, ValueError) as error:
        raise CannotAuthenticate(f"The secret of API keys in {settings.data_dir} cannot be used: {error}") from error
