"""What processes tell one another by Redis."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from proviso_service.backends.redis.link import RedisLink
from proviso_service.backends.redis.notices import RedisNotices
from proviso_service.notices import About, What
from tests.support.redis_server import RedisServer
from tests.support.replicas import new_prefix

MISSED = "missed"


class Ears:
    """What a process hears about something."""

    def __init__(self, notices: RedisNotices, about: About) -> None:
        self.heard: asyncio.Queue[Any] = asyncio.Queue()
        notices.hear(about, self._hear, self._miss)

    async def next(self) -> Any:
        async with asyncio.timeout(20):
            return await self.heard.get()

    async def _hear(self, what: What) -> None:
        if "fault" in what:
            raise ValueError("this one cannot be followed")
        self.heard.put_nowait(dict(what))

    async def _miss(self) -> None:
        self.heard.put_nowait(MISSED)


@asynccontextmanager
async def process(server: RedisServer, prefix: str, owner: str) -> AsyncIterator[RedisNotices]:
    link = RedisLink(server.url, owner, 15.0, prefix)
    notices = RedisNotices(link)
    async with link.open(), notices.open():
        yield notices


@asynccontextmanager
async def two(server: RedisServer) -> AsyncIterator[tuple[RedisNotices, RedisNotices]]:
    prefix = new_prefix()
    async with process(server, prefix, "first") as first, process(server, prefix, "second") as second:
        yield first, second


async def test_others_hear_what_is_told_in_order_and_nobody_hears_himself(redis_server: RedisServer) -> None:
    async with two(redis_server) as (first, second):
        own, others, of_catalog = Ears(first, About.MATTER), Ears(second, About.MATTER), Ears(second, About.CATALOG)
        for number in range(3):
            first.tell(About.MATTER, matter_id=f"{number}")
        first.tell(About.CATALOG)
        assert [await others.next() for _ in range(3)] == [{"matter_id": f"{number}"} for number in range(3)]
        assert await of_catalog.next() == {}
        second.tell(About.MATTER, matter_id="back")
        assert await own.next() == {"matter_id": "back"}
        assert own.heard.empty()


async def test_a_notice_that_cannot_be_followed_is_logged_and_the_next_one_is_heard(
    redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    async with two(redis_server) as (first, second):
        ears = Ears(second, About.DOCUMENT)
        first.tell(About.DOCUMENT, fault=True)
        first.tell(About.DOCUMENT, document_id="1")
        assert await ears.next() == {"document_id": "1"}
    assert caplog.text.count("notice_not_followed") == 1


async def test_once_redis_is_back_everything_is_looked_at_and_notices_are_heard_again(own_redis: RedisServer) -> None:
    async with two(own_redis) as (first, second):
        ears = Ears(second, About.MATTER)
        own_redis.kill()
        first.tell(About.MATTER, matter_id="while it was away")
        own_redis.start()
        heard = await ears.next()
        assert heard == MISSED
        while heard == MISSED:  # what is told before the teller is back, too, is another one
            first.tell(About.MATTER, matter_id="afterwards")
            heard = await ears.next()
        assert heard == {"matter_id": "afterwards"}


async def test_who_could_not_tell_something_has_the_others_look_at_everything(redis_server: RedisServer) -> None:
    prefix = new_prefix()
    link = RedisLink(redis_server.url, "cut off", 0.3, prefix)
    cut_off = RedisNotices(link)
    async with link.open(), cut_off.open(), process(redis_server, prefix, "other") as other:
        ears = Ears(other, About.DELETED)
        link.lost(ConnectionError("the cable is out"))
        cut_off.tell(About.DELETED, tenant="acme")
        assert await ears.next() == MISSED


async def test_too_many_notices_that_wait_are_one_that_tells_of_everything(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proviso_service.backends.redis.notices._MOST_WAITING", 10)
    async with two(redis_server) as (first, second):
        ears = Ears(second, About.MATTER)
        for number in range(12):
            first.tell(About.MATTER, number=number)
        heard = [await ears.next() for _ in range(3)]
    assert heard == [MISSED, {"number": 10}, {"number": 11}]
