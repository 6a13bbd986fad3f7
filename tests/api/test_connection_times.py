"""Connections end when they are idle or old, and no call that runs in time is lost by it."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from google.protobuf.wrappers_pb2 import StringValue

from proviso_service.api.server import ConnectionTimes
from tests.api.probe import Probe, probe
from tests.api.serving import NO_DOMAIN, served

SHORT_S = 0.3
TIME_LIMIT_S = 30.0


async def closed(channel: grpc.aio.Channel) -> None:
    """Returns when the channel has no connection."""
    async with asyncio.timeout(TIME_LIMIT_S):
        while (state := channel.get_state()) is grpc.ChannelConnectivity.READY:
            await channel.wait_for_state_change(state)


async def test_a_connection_without_calls_is_closed_and_the_next_call_opens_another() -> None:
    async with served(NO_DOMAIN, extra=probe(), connections=ConnectionTimes(idle_s=SHORT_S)) as server:
        await Probe(server.channel).unary("first")
        await closed(server.channel)
        assert (await Probe(server.channel).unary("second")).value == "second"


class Held:
    """A stream that says something, and then waits to be let go."""

    def __init__(self) -> None:
        self.may_end = asyncio.Event()

    async def __call__(self, request: StringValue, context: Any) -> AsyncIterator[StringValue]:
        yield StringValue(value="begun")
        await self.may_end.wait()
        yield StringValue(value="ended")


async def test_a_call_goes_on_over_a_connection_that_has_come_of_age() -> None:
    held = Held()
    times = ConnectionTimes(age_s=SHORT_S, age_grace_s=TIME_LIMIT_S)
    async with served(NO_DOMAIN, extra=probe(stream=held), connections=times) as server:
        call = Probe(server.channel).stream()
        assert (await call.read()).value == "begun"
        await closed(server.channel)
        assert (await Probe(server.channel).unary("over another")).value == "over another"
        held.may_end.set()
        assert (await call.read()).value == "ended"
        assert await call.code() is grpc.StatusCode.OK


async def test_a_call_that_outlasts_the_grace_time_is_ended() -> None:
    times = ConnectionTimes(age_s=SHORT_S, age_grace_s=SHORT_S)
    async with served(NO_DOMAIN, extra=probe(stream=Held()), connections=times) as server:
        call = Probe(server.channel).stream(timeout=TIME_LIMIT_S)
        assert (await call.read()).value == "begun"
        with pytest.raises(grpc.aio.AioRpcError):
            await call.read()
        assert await call.code() is grpc.StatusCode.UNAVAILABLE
