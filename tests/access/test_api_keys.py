"""API keys: which are accepted, what is stored of them, and when their use is noted."""

import base64
import hmac
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from unittest import mock

import pytest

from proviso_service.access import ApiKey, ApiKeys, Credentials, api_keys, digest_of, new_key, secret_in
from proviso_service.backends.sql.access import SqlApiKeyStore
from proviso_service.backends.sql.database import Database
from proviso_service.errors import TooBusy, Unauthenticated
from proviso_service.identity import Caller, Role
from tests.support.migrated import state_in
from tests.support.stored import Clock

SECRET = b"s" * 32
NEVER_MADE = "pvk_0123456789abcdef_" + "A" * 43


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def store(tmp_path: Path, clock: Clock) -> AsyncIterator[SqlApiKeyStore]:
    database = Database(state_in(tmp_path), now=clock)
    yield SqlApiKeyStore(database)
    await database.close()


@pytest.fixture
def keys(store: SqlApiKeyStore, clock: Clock) -> ApiKeys:
    return ApiKeys(store, SECRET, clock)


async def made(store: SqlApiKeyStore, clock: Clock, days: float | None = None, **changes: object) -> tuple[str, ApiKey]:
    key_id, key = new_key()
    now = clock()
    expires = now + timedelta(days=days) if days is not None else None
    stored = ApiKey(key_id, "smith", "importer", frozenset({Role.OPERATOR}), digest_of(SECRET, key), now, expires)
    stored = replace(stored, **changes)  # type: ignore[arg-type]
    await store.add(stored)
    return key, stored


async def caller_of(keys: ApiKeys, key: str) -> Caller:
    caller = await keys.authenticate(Credentials(key))
    assert caller is not None
    return caller


async def refused(keys: ApiKeys, key: str) -> str:
    with pytest.raises(Unauthenticated) as caught:
        await keys.authenticate(Credentials(key))
    return caught.value.message


async def test_a_key_names_its_caller(keys: ApiKeys, store: SqlApiKeyStore, clock: Clock) -> None:
    key, stored = await made(store, clock, matters=frozenset({"m-1", "m-2"}))
    caller = await caller_of(keys, key)
    assert (caller.tenant, caller.user, caller.roles) == ("smith", "importer", frozenset({Role.OPERATOR}))
    assert caller.matters == frozenset({"m-1", "m-2"})
    assert caller.key == stored.prefix
    assert key.startswith(caller.key + "_")


async def test_what_is_wrong_with_a_key_is_not_told(keys: ApiKeys, store: SqlApiKeyStore, clock: Clock) -> None:
    key, stored = await made(store, clock)
    expired, _ = await made(store, clock, days=-1)
    revoked, gone = await made(store, clock)
    await store.revoke(gone.key_id)
    of_other_secret, _ = await made(store, clock, digest=digest_of(b"other", key))
    wrong = f"{stored.prefix}_{new_key()[1][-43:]}"
    messages = {await refused(keys, bad) for bad in (NEVER_MADE, wrong, expired, revoked, of_other_secret)}
    assert len(messages) == 1
    assert await caller_of(keys, key)


async def test_a_key_that_is_unknown_costs_as_much_as_a_wrong_one(
    keys: ApiKeys, store: SqlApiKeyStore, clock: Clock
) -> None:
    _, stored = await made(store, clock)
    for bad in (NEVER_MADE, f"{stored.prefix}_{'A' * 43}"):
        with (
            mock.patch.object(api_keys, "digest_of", wraps=digest_of) as hashed,
            mock.patch.object(hmac, "compare_digest", wraps=hmac.compare_digest) as compared,
        ):
            await refused(keys, bad)
        assert (hashed.call_count, compared.call_count) == (1, 1)


async def test_two_keys_are_valid_at_once_until_one_is_revoked(
    keys: ApiKeys, store: SqlApiKeyStore, clock: Clock
) -> None:
    (old, stored), (new, _) = await made(store, clock), await made(store, clock)
    assert await caller_of(keys, old) == await caller_of(keys, new)
    assert await store.revoke(stored.key_id)
    assert await refused(keys, old)
    assert await caller_of(keys, new)


async def test_a_key_that_was_revoked_stays_so(store: SqlApiKeyStore, clock: Clock) -> None:
    _, stored = await made(store, clock)
    await store.revoke(stored.key_id)
    first = await store.find(stored.key_id)
    assert await store.revoke(stored.key_id)
    assert await store.find(stored.key_id) == first
    assert not await store.revoke("0" * 16)


async def test_a_key_expires_at_its_time(keys: ApiKeys, store: SqlApiKeyStore, clock: Clock) -> None:
    now = clock()
    key, _ = await made(store, clock, expire_time=now + timedelta(days=30))
    assert await caller_of(keys, key)
    late = ApiKeys(store, SECRET, lambda: now + timedelta(days=30))
    assert await refused(late, key)


@pytest.mark.parametrize(
    "token",
    [
        "",
        "pvk_",
        NEVER_MADE[:-1],
        NEVER_MADE + "A",
        NEVER_MADE.upper(),
        NEVER_MADE + "\n",
        NEVER_MADE[:-1] + "=",
        NEVER_MADE.replace("0", "०"),
        "a.b.c",
    ],
)
async def test_what_is_no_key_is_left_to_others(keys: ApiKeys, token: str) -> None:
    assert await keys.authenticate(Credentials(token)) is None


async def test_the_last_use_is_noted_now_and_then(keys: ApiKeys, store: SqlApiKeyStore, clock: Clock) -> None:
    key, stored = await made(store, clock)
    assert stored.last_use_time is None
    with mock.patch.object(store, "note_use", wraps=store.note_use) as noted:
        for _ in range(5):
            await caller_of(keys, key)
        await refused(keys, key[:-5] + "AAAAA")
    assert noted.await_count == 1
    found = await store.find(stored.key_id)
    assert found is not None
    assert found.last_use_time is not None


async def test_a_full_disk_keeps_nobody_out(keys: ApiKeys, store: SqlApiKeyStore, clock: Clock) -> None:
    key, _ = await made(store, clock)
    with mock.patch.object(store, "note_use", side_effect=TooBusy("full", 1)) as noted:
        assert await caller_of(keys, key)
        assert await caller_of(keys, key)
    assert noted.await_count == 2


async def test_nothing_that_opens_anything_is_stored(store: SqlApiKeyStore, clock: Clock, tmp_path: Path) -> None:
    key, _ = await made(store, clock)
    written = all_bytes_in(tmp_path)
    secret = key[-43:]
    assert secret.encode() not in written
    assert base64.urlsafe_b64decode(secret + "=") not in written


def all_bytes_in(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.iterdir())


def test_keys_have_256_random_bits() -> None:
    made = [new_key() for _ in range(100)]
    assert len({key_id for key_id, _ in made}) == 100
    assert {len(base64.urlsafe_b64decode(key[-43:] + "=")) for _, key in made} == {32}


def test_the_secret_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    secret = secret_in(tmp_path / "secrets")
    assert len(secret) == 32
    assert secret_in(tmp_path / "secrets") == secret
    (file,) = (tmp_path / "secrets").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", [b"", b"AAAA", b"not base64 at all, and long enough to be one..."])
def test_a_damaged_secret_is_not_used(tmp_path: Path, content: bytes) -> None:
    secret_in(tmp_path)
    (tmp_path / "api-keys.secret").write_bytes(content)
    with pytest.raises(ValueError, match=r"cut short|base64|padding"):
        secret_in(tmp_path)
