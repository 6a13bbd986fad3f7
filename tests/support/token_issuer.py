"""An issuer of JSON Web Tokens, with its keys and its key set."""

import base64
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

ISSUER, AUDIENCE = "https://login.example", "proviso"
MAKERS: Mapping[str, Any] = {"RS256": RSAAlgorithm, "ES256": ECAlgorithm, "EdDSA": OKPAlgorithm}


def private_key(algorithm: str) -> Any:
    match algorithm:
        case "RS256":
            return rsa.generate_private_key(65_537, 2_048)
        case "ES256":
            return ec.generate_private_key(ec.SECP256R1())
    return ed25519.Ed25519PrivateKey.generate()


def public_jwk(key: Any, algorithm: str, key_id: str) -> dict[str, Any]:
    return {**MAKERS[algorithm].to_jwk(key.public_key(), as_dict=True), "kid": key_id, "alg": algorithm}


def key_set_of(*keys: dict[str, Any]) -> bytes:
    return json.dumps({"keys": keys}).encode()


def claims(**changes: Any) -> dict[str, Any]:
    """Sound claims; a change to None leaves a claim out."""
    sound = {"iss": ISSUER, "aud": AUDIENCE, "exp": int(time.time()) + 600, "sub": "ada", "tenant": "smith"}
    return {name: value for name, value in (sound | changes).items() if value is not None}


@dataclass
class Issuer:
    """Has one key of each algorithm, whose id is the algorithm's name."""

    keys: dict[str, Any] = field(default_factory=lambda: {name: private_key(name) for name in MAKERS})

    @property
    def key_set(self) -> bytes:
        return key_set_of(*(public_jwk(key, name, name) for name, key in self.keys.items()))

    def token(self, algorithm: str = "ES256", headers: Mapping[str, Any] | None = None, **changes: Any) -> str:
        return jwt.encode(
            claims(**changes), self.keys[algorithm], algorithm, headers={"kid": algorithm, **(headers or {})}
        )


def encoded(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()
