"""Only tokens of the issuer, for this service and in time are accepted, and nothing that was made of them."""

import base64
import hmac
import json
import os
import time
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from hypothesis import given
from hypothesis import strategies as st
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from proviso_service.access import Credentials, KeySet, TokenRules, Tokens
from proviso_service.access.tokens import MAX_TOKEN_CHARS
from proviso_service.errors import Unauthenticated
from proviso_service.identity import Caller, Role
from tests.support.token_issuer import AUDIENCE, ISSUER, MAKERS, Issuer, claims, encoded, key_set_of, public_jwk

RULES = TokenRules(ISSUER, AUDIENCE)
TRIES = 20_000 * int(os.environ.get("CHAOS_ROUNDS", "0")) or 1_000


@pytest.fixture(scope="module")
def issuer() -> Issuer:
    return Issuer()


@pytest.fixture
async def tokens(issuer: Issuer, tmp_path: Path) -> Tokens:
    return await recogniser(issuer.key_set, tmp_path)


async def recogniser(key_set: bytes, folder: Path, rules: TokenRules = RULES) -> Tokens:
    file = folder / "keys.json"
    file.write_bytes(key_set)
    keys = KeySet(str(file))
    await keys.open()
    return Tokens(rules, keys)


async def caller_of(tokens: Tokens, token: str) -> Caller:
    caller = await tokens.authenticate(Credentials(token))
    assert caller is not None
    return caller


async def refused(tokens: Tokens, token: str) -> str:
    with pytest.raises(Unauthenticated) as caught:
        await tokens.authenticate(Credentials(token))
    return caught.value.message


@pytest.mark.parametrize("algorithm", MAKERS)
async def test_a_token_of_the_issuer_names_its_caller(tokens: Tokens, issuer: Issuer, algorithm: str) -> None:
    caller = await caller_of(tokens, issuer.token(algorithm, roles=["auditor", "wizard"]))
    assert (caller.tenant, caller.user, caller.roles, caller.matters, caller.key) == (
        "smith",
        "ada",
        frozenset({Role.AUDITOR}),
        None,
        ISSUER,
    )


async def test_the_algorithm_is_that_of_the_key(tokens: Tokens, issuer: Issuer) -> None:
    public = {
        name: key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        for name, key in issuer.keys.items()
    }
    jwks = json.loads(issuer.key_set)["keys"]
    secrets = [b"", *public.values(), *(json.dumps(key).encode() for key in jwks)]
    secrets += [base64.urlsafe_b64decode(key["n"] + "==") for key in jwks if "n" in key]
    for key_id in (*MAKERS, None, ""):
        for algorithm in ("none", "None", "NONE", ""):
            assert await refused(tokens, forged({"alg": algorithm, "kid": key_id}, b"unsigned"))
        for secret in secrets:
            for algorithm, digest in (("HS256", "sha256"), ("HS384", "sha384"), ("HS512", "sha512")):
                header = {"alg": algorithm, "kid": key_id}
                signed = forged(header).rpartition(".")[0]
                signature = hmac.digest(secret, signed.encode(), digest)
                assert await refused(tokens, forged(header, signature))


def forged(header: dict[str, Any], signature: bytes = b"-") -> str:
    parts = (encoded({name: value for name, value in header.items() if value is not None}), encoded(claims()))
    return ".".join((*parts, base64.urlsafe_b64encode(signature).rstrip(b"=").decode()))


@pytest.mark.parametrize("algorithm", MAKERS)
@pytest.mark.parametrize("other", MAKERS)
async def test_a_signature_counts_for_the_key_that_the_token_names(
    tokens: Tokens, issuer: Issuer, algorithm: str, other: str
) -> None:
    if algorithm != other:
        assert await refused(tokens, issuer.token(algorithm, {"kid": other}))


@pytest.mark.parametrize(
    "key_id", ["unknown", "../../etc/passwd", "RS256' OR '1'='1", "RS256\x00", "rs256", "é" * 100, "x" * 3_000]
)
async def test_a_key_id_is_only_looked_up(tokens: Tokens, issuer: Issuer, key_id: str) -> None:
    assert "does not know" in await refused(tokens, issuer.token("RS256", {"kid": key_id}))


async def test_a_token_brings_no_keys_of_its_own(tokens: Tokens) -> None:
    own = ec.generate_private_key(ec.SECP256R1())
    jwk = public_jwk(own, "ES256", "ES256")
    for more in ({"jwk": jwk}, {"jku": "http://127.0.0.1:1/keys"}, {"x5u": "file:///etc/keys"}, {"x5c": ["AAAA"]}):
        token = jwt.encode(claims(), own, "ES256", headers={"kid": "ES256"} | more)
        assert await refused(tokens, token)


@pytest.mark.parametrize("header", [{"crit": ["exp"]}, {"crit": []}, {"crit": "exp"}, {"crit": ["b64"], "b64": False}])
async def test_a_header_that_has_to_be_understood(tokens: Tokens, issuer: Issuer, header: dict[str, Any]) -> None:
    sound = {"alg": "ES256", "kid": "ES256", "typ": "JWT"}
    signed = f"{encoded(sound | header)}.{encoded(claims())}"
    key = jwt.get_algorithm_by_name("ES256")
    signature = base64.urlsafe_b64encode(key.sign(signed.encode(), issuer.keys["ES256"])).rstrip(b"=").decode()
    assert await refused(tokens, f"{signed}.{signature}")


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": None},
        {"iss": "https://other.example"},
        {"iss": ISSUER + "/"},
        {"iss": ""},
        {"aud": None},
        {"aud": "other"},
        {"aud": ["other"]},
        {"aud": []},
        {"aud": {"proviso": 1}},
        {"exp": None},
        {"exp": "soon"},
        {"exp": [1]},
        {"exp": float("nan")},
        {"exp": float("-inf")},
        {"nbf": 4_000_000_000},
        {"iat": 4_000_000_000},
        {"sub": 7},
        {"sub": None},
        {"sub": ""},
        {"sub": "a" * 129},
        {"sub": "ada\n"},
        {"tenant": None},
        {"tenant": ""},
        {"tenant": ["smith"]},
        {"tenant": "s" * 129},
        {"tenant": "smith\x00"},
        {"matters": "all"},
        {"matters": {}},
    ],
    ids=str,
)
async def test_claims_that_are_wrong(tokens: Tokens, issuer: Issuer, changes: dict[str, Any]) -> None:
    assert await refused(tokens, issuer.token(**changes))


async def test_a_token_that_has_expired_is_told_so(tokens: Tokens, issuer: Issuer) -> None:
    assert await refused(tokens, issuer.token(exp=time.time() - 60)) == "The token has expired"
    assert await caller_of(tokens, issuer.token(exp=time.time() - 10))  # the clocks may differ


async def test_a_token_for_several_audiences(tokens: Tokens, issuer: Issuer) -> None:
    assert await caller_of(tokens, issuer.token(aud=["other", AUDIENCE]))


async def test_a_token_that_is_too_long(tokens: Tokens, issuer: Issuer) -> None:
    assert f"{MAX_TOKEN_CHARS} characters" in await refused(tokens, issuer.token(more="x" * MAX_TOKEN_CHARS))


@pytest.mark.parametrize("token", ["", "abc", "a.b", "a.b.c.d", "a..c", "pvk_0_0", "a.b.c=", "ä.b.c", "a.b.c\n"])
async def test_what_is_no_token_is_left_to_others(tokens: Tokens, token: str) -> None:
    assert await tokens.authenticate(Credentials(token)) is None


@pytest.mark.parametrize(
    "header",
    ["[]", "7", "null", '{"alg":{}}', '{"alg":"RS256","kid":7}', "[" * 2_000, "9" * 5_000, '"\\ud800"', "\xff"],
)
async def test_headers_of_any_kind_are_refused(tokens: Tokens, header: str) -> None:
    part = base64.urlsafe_b64encode(header.encode("latin-1")).rstrip(b"=").decode()
    assert await refused(tokens, f"{part}.{part}.AAAA")


async def test_claims_inside_of_others(issuer: Issuer, tmp_path: Path) -> None:
    rules = TokenRules(ISSUER, AUDIENCE, "org.id", "https://example.com/user", "realm_access.roles")
    tokens = await recogniser(issuer.key_set, tmp_path, rules)
    inside: dict[str, Any] = {
        "org": {"id": "jones"},
        "https://example.com/user": "bob",
        "realm_access": {"roles": "operator admin"},
    }
    caller = await caller_of(tokens, issuer.token(**inside))
    assert (caller.tenant, caller.user, caller.roles) == ("jones", "bob", frozenset({Role.OPERATOR, Role.ADMIN}))
    assert "org.id" in await refused(tokens, issuer.token(**inside | {"org": "jones"}))
    caller = await caller_of(tokens, issuer.token(**inside | {"realm_access": [{"roles": ["admin"]}]}))
    assert not caller.roles


async def test_a_token_may_open_some_matters_only(tokens: Tokens, issuer: Issuer) -> None:
    caller = await caller_of(tokens, issuer.token(matters=["25E70284-6124-4A2B-9C89-0123456789AB", 7, None]))
    assert caller.matters == frozenset({"25e70284-6124-4a2b-9c89-0123456789ab"})
    assert (await caller_of(tokens, issuer.token(matters=[]))).matters == frozenset()


SHORT_RSA = RSAAlgorithm.to_jwk(rsa.generate_private_key(65_537, 1_024).public_key(), as_dict=True)  # noqa: S505
UNUSABLE_KEYS: dict[str, Any] = {
    "a secret": {"kty": "oct", "k": encoded("secret"), "alg": "HS256"},
    "a secret without algorithm": {"kty": "oct", "k": encoded("secret")},
    "a short RSA key": SHORT_RSA,
    "an RSA key for HMAC": {**SHORT_RSA, "alg": "HS256"},
    "a private key": ECAlgorithm.to_jwk(ec.generate_private_key(ec.SECP256R1()), as_dict=True),
    "another curve": ECAlgorithm.to_jwk(ec.generate_private_key(ec.SECP384R1()).public_key(), as_dict=True),
    "a number that is none": {"kty": "RSA", "n": 7, "e": "AQAB"},
    "no number": {"kty": "RSA"},
    "a kind that is none": {"kty": ["RSA"]},
    "a point that is not on the curve": {"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"},
    "a curve for secrets": {"kty": "OKP", "crv": "X25519", "x": encoded("x" * 30)},
    "no point": {"kty": "OKP", "crv": "Ed25519", "x": None},
    "a text": "RSA",
    "null": None,
}


@pytest.mark.parametrize("key", UNUSABLE_KEYS.values(), ids=UNUSABLE_KEYS)
async def test_keys_that_are_no_public_keys_for_signatures_are_left_out(
    issuer: Issuer, tmp_path: Path, key: Any
) -> None:
    file = tmp_path / "keys.json"
    named = key | {"kid": "bad"} if isinstance(key, dict) else key
    file.write_bytes(key_set_of(named, public_jwk(issuer.keys["ES256"], "ES256", "good")))
    keys = KeySet(str(file))
    await keys.open()
    assert await keys.find("good") is not None
    assert await keys.find("bad") is None
    assert await keys.find("") is not None  # the only one


async def test_keys_for_encryption_check_no_signature(issuer: Issuer, tmp_path: Path) -> None:
    key = public_jwk(issuer.keys["ES256"], "ES256", "ES256")
    tokens = await recogniser(
        key_set_of(
            {**key, "use": "enc"}, {**key, "key_ops": ["encrypt"]}, public_jwk(issuer.keys["EdDSA"], "EdDSA", "x")
        ),
        tmp_path,
    )
    assert await refused(tokens, issuer.token("ES256"))


@pytest.mark.parametrize("algorithm", MAKERS)
async def test_no_other_spelling_of_a_token_is_accepted(tokens: Tokens, issuer: Issuer, algorithm: str) -> None:
    """The last character of a signature has bits that mean nothing: 16 tokens would be one."""
    token = issuer.token(algorithm)
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    for character in alphabet.replace(token[-1], ""):
        assert await refused(tokens, token[:-1] + character)


async def test_random_and_mutated_tokens_are_refused(tokens: Tokens, issuer: Issuer) -> None:
    """Bytes of a sound token are changed, parts of tokens are exchanged, and random parts are put together."""
    random, alphabet = Random(18), "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."  # noqa: S311
    sound = [issuer.token(algorithm, roles=["admin"]) for algorithm in MAKERS]
    for token in sound:
        assert await caller_of(tokens, token)  # what is known of them must not help others
    accepted = 0
    for number in range(TRIES):
        token = random.choice(sound)
        match number % 3:
            case 0:
                place = random.randrange(len(token))
                token = token[:place] + random.choice(alphabet) + token[place + random.randrange(2) :]
            case 1:
                token = ".".join(random.choice(sound).split(".")[part] for part in range(3))
            case _:
                token = ".".join("".join(random.choices(alphabet[:-1], k=random.randrange(1, 90))) for _ in range(3))
        if token not in sound:
            with suppress(Unauthenticated):
                accepted += await tokens.authenticate(Credentials(token)) is not None
    assert not accepted
    print(f"counted {TRIES} tokens")


@given(data=st.data())
async def test_no_mutation_of_a_token_is_accepted(issuer: Issuer, data: st.DataObject, tmp_path_factory: Any) -> None:
    tokens = await recogniser(issuer.key_set, tmp_path_factory.mktemp("keys"))
    token = issuer.token(data.draw(st.sampled_from(sorted(MAKERS))))
    position = data.draw(st.integers(0, len(token) - 1))
    mutated = data.draw(
        st.sampled_from([token[:position], token[:position] + token[position + 1 :]])
        | st.characters(codec="ascii").map(lambda c: token[:position] + c + token[position + 1 :])
        | st.characters(codec="ascii").map(lambda c: token[:position] + c + token[position:])
    )
    if mutated != token:
        with suppress(Unauthenticated):
            assert await tokens.authenticate(Credentials(mutated)) is None
