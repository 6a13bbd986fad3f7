"""Who makes a call, and what the caller may do."""

from importlib import import_module
from typing import TYPE_CHECKING

from proviso_service.access.api_keys import ApiKey, ApiKeys, ApiKeyStore, digest_of, new_key, secret_in
from proviso_service.access.audit import (
    BEFORE_ALL,
    AuditEvent,
    AuditFilter,
    AuditStore,
    AuditTrail,
    Done,
    Outcome,
    Verification,
    hash_of,
    time_in,
    verify,
)
from proviso_service.access.authorisation import Action, Authorisation, MatterRole, Members
from proviso_service.access.certificates import Certificates, UnreadablePeers
from proviso_service.access.credentials import Authenticator, Authenticators, Credentials
from proviso_service.access.quotas import Quota, Quotas, Usage

if TYPE_CHECKING:
    from proviso_service.access.key_sets import KeySet, UnreadableKeySet
    from proviso_service.access.tokens import TokenRules, Tokens

__all__ = [
    "BEFORE_ALL",
    "Action",
    "ApiKey",
    "ApiKeyStore",
    "ApiKeys",
    "AuditEvent",
    "AuditFilter",
    "AuditStore",
    "AuditTrail",
    "Authenticator",
    "Authenticators",
    "Authorisation",
    "Certificates",
    "Credentials",
    "Done",
    "KeySet",
    "MatterRole",
    "Members",
    "Outcome",
    "Quota",
    "Quotas",
    "TokenRules",
    "Tokens",
    "UnreadableKeySet",
    "UnreadablePeers",
    "Usage",
    "Verification",
    "digest_of",
    "hash_of",
    "new_key",
    "secret_in",
    "time_in",
    "verify",
]

_OF_TOKENS = {"KeySet": "key_sets", "UnreadableKeySet": "key_sets", "TokenRules": "tokens", "Tokens": "tokens"}


def __getattr__(name: str) -> object:
    """Imports what checks tokens when it is first asked for: its libraries take long to import, and a service that
    accepts no tokens has no use for them."""
    if name in _OF_TOKENS:
        found: object = getattr(import_module(f"{__name__}.{_OF_TOKENS[name]}"), name)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
