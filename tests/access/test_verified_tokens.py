"""A token is checked once, and never accepted longer than if it were checked in each call."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import jwt
import pytest

from proviso_service.access import Credentials, KeySet, TokenRules, Tokens
from proviso_service.access.tokens import LEEWAY_S
from proviso_service.errors import Unauthenticated
from tests.support.token_issuer import AUDIENCE, ISSUER, Issuer, key_set_of, public_jwk


class World:
    """A recogniser with a clock that can be set, and the issuer of its tokens."""

    def __init__(self, file: Path) -> None:
        self.issuer = Issuer()
        self.file = file
        self.now = time.time()
        self.file.write_bytes(self.issuer.key_set)
        self.keys = KeySet(str(file), lambda: self.now)
        self.tokens = Tokens(TokenRules(ISSUER, AUDIENCE), self.keys, lambda: self.now)

    async def user(self, token: str) -> str:
        """Whom a token is of; empty where it is refused."""
        try:
            caller = await self.tokens.authenticate(Credentials(token))
        except Unauthenticated:
            return ""
        assert caller is not None
        return caller.user

    @contextmanager
    def checked(self, times: int) -> Iterator[None]:
        """Signatures are checked so many times in the block."""
        with patch.object(jwt, "decode", side_effect=jwt.decode) as decode:
            yield
        assert decode.call_count == times


@pytest.fixture
async def world(tmp_path: Path) -> World:
    made = World(tmp_path / "keys.json")
    await made.keys.open()
    return made


async def test_a_signature_is_checked_once(world: World) -> None:
    ada, bob = world.issuer.token(), world.issuer.token(sub="bob")
    with world.checked(2):
        for _ in range(3):
            assert (await world.user(ada), await world.user(bob)) == ("ada", "bob")


async def test_a_known_token_expires_when_it_says(world: World) -> None:
    token = world.issuer.token(exp=int(world.now) + 100)
    assert await world.user(token) == "ada"
    world.now = int(world.now) + 100 + LEEWAY_S - 0.1
    with world.checked(0):
        assert await world.user(token) == "ada"
    world.now += 0.1
    with world.checked(1):
        await world.user(token)


async def test_no_time_is_too_far(world: World) -> None:
    assert await world.user(world.issuer.token(exp=10**400)) == "ada"


async def test_a_known_token_is_checked_again_when_the_clock_was_set_back(world: World) -> None:
    token = world.issuer.token()
    assert await world.user(token) == "ada"
    world.now -= 1
    with world.checked(1):
        assert await world.user(token) == "ada"


async def test_a_withdrawn_key_opens_nothing_from_the_next_reading_on(world: World) -> None:
    token, other = world.issuer.token("ES256"), world.issuer.token("EdDSA")
    assert await world.user(token) == "ada"
    assert await world.user(other) == "ada"
    world.file.write_bytes(key_set_of(public_jwk(world.issuer.keys["EdDSA"], "EdDSA", "EdDSA")))
    await world.keys.open()
    assert await world.user(token) == ""
    assert await world.user(other) == "ada"


async def test_a_key_that_took_the_id_of_another_does_not_take_its_tokens(world: World) -> None:
    token = world.issuer.token("ES256")
    assert await world.user(token) == "ada"
    world.file.write_bytes(Issuer().key_set)
    await world.keys.open()
    assert await world.user(token) == ""


async def test_so_many_tokens_are_known_and_no_more(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proviso_service.access.tokens.MAX_VERIFIED", 3)
    tokens = [world.issuer.token("EdDSA", sub=f"u{number}") for number in range(5)]
    for token in tokens:
        await world.user(token)
    with world.checked(2):
        for token in tokens[2:] + tokens[:2]:
            assert await world.user(token)
