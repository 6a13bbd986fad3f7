"""Key sets in files and at addresses: when they are read, and what becomes of failures."""

import asyncio
import json
from pathlib import Path

import pytest

from proviso_service.access import KeySet, UnreadableKeySet
from proviso_service.access.key_sets import FRESH_S, MAX_BYTES, MAX_WAITING, READINGS, RETRY_S
from tests.support.token_issuer import key_set_of, private_key, public_jwk
from tests.support.web_server import WebServer, endless, file, silent, web_server

KEY = private_key("ES256")


def keys_named(*names: str) -> bytes:
    return key_set_of(*(public_jwk(KEY, "ES256", name) for name in names))


class Seconds:
    """A clock that a test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


def serve(server: WebServer, *names: str) -> None:
    server.answers["/keys"] = file(keys_named(*names), "application/json")


def at(server: WebServer, seconds: Seconds) -> KeySet:
    return KeySet(f"http://127.0.0.1:{server.port}/keys", seconds)


async def has(keys: KeySet, name: str) -> bool:
    return await asyncio.wait_for(keys.find(name), 20) is not None


async def test_unknown_keys_are_looked_for_a_few_times_at_once_and_then_every_ten_seconds(seconds: Seconds) -> None:
    async with web_server() as server:
        serve(server, "old")
        keys = at(server, seconds)
        await keys.open()
        serve(server, "old", "new")
        assert await has(keys, "new")
        for number in range(100):
            assert not await has(keys, f"unknown {number}")
        assert len(server.requests) == 1 + READINGS
        serve(server, "old", "new", "newest")
        assert not await has(keys, "newest")
        seconds.now += RETRY_S
        found = await asyncio.gather(*(has(keys, f"unknown {number}") for number in range(100)))
        assert not any(found)
        assert await has(keys, "newest")
        assert len(server.requests) == 2 + READINGS
        seconds.now += 100 * RETRY_S
        for number in range(100):
            assert not await has(keys, f"unknown {number}")
        assert len(server.requests) == 2 + 2 * READINGS
        await keys.close()


async def test_a_key_that_was_added_while_the_set_is_read_is_found(seconds: Seconds) -> None:
    async with web_server() as server:
        serve(server, "old")
        keys = at(server, seconds)
        await keys.open()
        asked, may_answer = asyncio.Event(), asyncio.Event()

        async def late(writer: asyncio.StreamWriter) -> None:
            """Answers with what there was when it was asked."""
            asked.set()
            await may_answer.wait()
            await file(keys_named("old"), "application/json")(writer)

        server.answers["/keys"] = late
        under_way = asyncio.create_task(has(keys, "unknown"))
        await asked.wait()
        serve(server, "old", "new")
        found = asyncio.create_task(has(keys, "new"))
        await asyncio.sleep(0)  # it waits for the reading that is under way
        may_answer.set()
        assert await found
        assert not await under_way
        assert len(server.requests) == 3
        await keys.close()


async def test_calls_that_wait_for_the_same_reading_have_it_once(seconds: Seconds) -> None:
    async with web_server() as server:
        serve(server, "old")
        keys = at(server, seconds)
        await keys.open()
        serve(server, "old", "new")
        assert all(await asyncio.gather(*(has(keys, "new") for _ in range(20))))
        assert len(server.requests) == 2
        await keys.close()


async def test_a_key_that_the_issuer_gave_up_is_forgotten_with_the_next_reading(seconds: Seconds) -> None:
    async with web_server() as server:
        serve(server, "old", "new")
        keys = at(server, seconds)
        await keys.open()
        serve(server, "new")
        assert await has(keys, "old")
        seconds.now += FRESH_S
        assert await has(keys, "old")  # a call does not wait for the reading that it starts
        assert not await has(keys, "other")
        assert not await has(keys, "old")
        await keys.close()


@pytest.mark.parametrize("failure", [b"", b"[]", b"{}", b'{"keys": []}', b"<html>", b'{"keys": {}}', b"\xff"])
async def test_a_set_that_cannot_be_read_leaves_the_old_one(seconds: Seconds, failure: bytes) -> None:
    async with web_server() as server:
        serve(server, "known")
        keys = at(server, seconds)
        await keys.open()
        server.answers["/keys"] = file(failure)
        seconds.now += FRESH_S
        assert not await has(keys, "unknown")
        assert await has(keys, "known")
        assert len(server.requests) == 2
        await keys.close()


@pytest.mark.parametrize("status", ["404 Not Found", "500 Oops", "302 Found"])
async def test_an_outage_leaves_the_old_set(seconds: Seconds, status: str) -> None:
    async with web_server() as server:
        serve(server, "known")
        keys = at(server, seconds)
        await keys.open()
        server.answers["/keys"] = file(keys_named("unknown"), status=status, location="/other")
        seconds.now += FRESH_S
        assert not await has(keys, "unknown")
        assert await has(keys, "known")
        await keys.close()


async def test_a_slow_server_does_not_stall_calls_whose_key_is_known(seconds: Seconds) -> None:
    async with web_server() as server:
        serve(server, "known")
        keys = at(server, seconds)
        await keys.open()
        server.answers["/keys"] = silent
        seconds.now += FRESH_S
        waiting = asyncio.create_task(keys.find("unknown"))
        for _ in range(50):
            assert await asyncio.wait_for(keys.find("known"), 1) is not None
        assert not waiting.done()
        await keys.close()
        assert await asyncio.wait_for(waiting, 5) is None


async def test_tokens_of_unknown_keys_wait_in_a_bounded_number(seconds: Seconds) -> None:
    async with web_server() as server:
        serve(server, "known")
        keys = at(server, seconds)
        await keys.open()
        server.answers["/keys"] = silent
        seconds.now += FRESH_S
        waiting = [asyncio.create_task(keys.find("unknown")) for _ in range(MAX_WAITING)]
        await asyncio.sleep(0)
        assert not await asyncio.wait_for(has(keys, "unknown"), 1)
        assert not any(task.done() for task in waiting)
        await keys.close()
        assert not any(await asyncio.gather(*waiting))


async def test_an_endless_answer_is_cut_off(seconds: Seconds) -> None:
    async with web_server() as server:
        server.answers["/keys"] = endless(b"HTTP/1.1 200 OK\r\n\r\n", b" " * 64 * 1024)
        with pytest.raises(UnreadableKeySet, match=f"more than {MAX_BYTES} bytes"):
            await at(server, seconds).open()


@pytest.mark.parametrize(
    "source", ["https://[", "https://127.0.0.1:1/keys", "https://a b/keys", "ftp://localhost/keys"]
)
async def test_an_address_that_does_not_answer(source: str) -> None:
    with pytest.raises(UnreadableKeySet, match="cannot be read"):
        await KeySet(source).open()


async def test_a_file_is_read_again_when_a_token_names_a_new_key(tmp_path: Path, seconds: Seconds) -> None:
    path = tmp_path / "keys.json"
    path.write_bytes(keys_named("old"))
    keys = KeySet(str(path), seconds)
    await keys.open()
    path.write_bytes(keys_named("new"))
    seconds.now += RETRY_S
    assert await has(keys, "new")
    assert not await has(keys, "old")
    path.unlink()
    seconds.now += FRESH_S
    assert not await has(keys, "newest")
    assert await has(keys, "new")


async def test_a_token_without_a_key_id_is_checked_with_the_only_key(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    for names, found in ((["one"], True), (["one", "two"], False)):
        path.write_bytes(keys_named(*names))
        keys = KeySet(str(path))
        await keys.open()
        assert await has(keys, "") is found


@pytest.mark.parametrize(
    "content", [None, b"", b"{", b"[" * 100_000, json.dumps({"keys": [1]}).encode(), b" " * 300_000]
)
async def test_a_file_that_is_no_key_set(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "keys.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UnreadableKeySet, match=r"keys\.json"):
        await KeySet(str(path)).open()
