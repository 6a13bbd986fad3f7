"""Who makes a call, and what the caller may do."""

from proviso_service.access.api_keys import ApiKey, ApiKeys, ApiKeyStore, digest_of, new_key, secret_in
from proviso_service.access.authorisation import Action, Authorisation, MatterRole, Members
from proviso_service.access.certificates import Certificates, UnreadablePeers
from proviso_service.access.credentials import Authenticator, Authenticators, Credentials
from proviso_service.access.key_sets import KeySet, UnreadableKeySet
from proviso_service.access.quotas import Quota, Quotas, Usage
from proviso_service.access.tokens import TokenRules, Tokens

__all__ = [
    "Action",
    "ApiKey",
    "ApiKeyStore",
    "ApiKeys",
    "Authenticator",
    "Authenticators",
    "Authorisation",
    "Certificates",
    "Credentials",
    "KeySet",
    "MatterRole",
    "Members",
    "Quota",
    "Quotas",
    "TokenRules",
    "Tokens",
    "UnreadableKeySet",
    "UnreadablePeers",
    "Usage",
    "digest_of",
    "new_key",
    "secret_in",
]
