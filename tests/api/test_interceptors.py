"""What happens around every call, whatever its kind and style."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from typing import Any

import grpc
import pytest
from google.protobuf.wrappers_pb2 import StringValue
from grpc_health.v1 import health_pb2, health_pb2_grpc
from structlog.contextvars import get_contextvars
from structlog.testing import capture_logs

from proviso_service.errors import InvalidRequest, MatterNotFound
from tests.api.probe import Probe, probe
from tests.api.serving import NO_DOMAIN, refusal, served

CONFIDENTIAL = "the settlement is swordfish"


async def texts(call: Any) -> list[str]:
    return [answer.value async for answer in call]


def of_every_kind(calls: Probe) -> list[Awaitable[Any]]:
    return [calls.unary(), texts(calls.stream()), texts(calls.writer()), calls.upload("x"), texts(calls.both())]


async def failing(request: Any, context: Any) -> StringValue:
    raise RuntimeError(CONFIDENTIAL)


async def failing_stream(request: Any, context: Any) -> AsyncIterator[StringValue]:
    yield StringValue(value="a")
    raise RuntimeError(CONFIDENTIAL)


async def failing_writer(request: Any, context: Any) -> None:
    await context.write(StringValue(value="a"))
    raise RuntimeError(CONFIDENTIAL)


def refusing_at_once(request: Any, context: Any) -> AsyncIterator[StringValue]:
    raise MatterNotFound("m1")


async def test_every_kind_and_style_of_handler_is_served() -> None:
    async with served(NO_DOMAIN, extra=probe()) as server:
        calls = Probe(server.channel)
        assert (await calls.unary("x")).value == "x"
        assert await texts(calls.stream()) == ["a", "b"]
        assert await texts(calls.writer()) == ["a", "b"]
        assert (await calls.upload("x", "y")).value == "x+y"
        assert await texts(calls.both("x", "y")) == ["x", "y"]


async def test_a_fault_is_internal_and_keeps_its_text_to_the_log() -> None:
    faulty = probe(failing, failing_stream, failing_writer, failing, failing_stream)
    with capture_logs() as logs:
        async with served(NO_DOMAIN, extra=faulty) as server:
            calls = Probe(server.channel)
            started = (
                calls.unary(),
                texts(calls.stream()),
                texts(calls.writer()),
                calls.upload("x"),
                texts(calls.both()),
            )
            refused = [await refusal(call) for call in started]
    for one in refused:
        assert (one.code, one.reason) == (grpc.StatusCode.INTERNAL, "INTERNAL")
        assert "swordfish" not in repr(one)
        assert one.details["ErrorInfo"].metadata["request_id"] == one.trailing["x-request-id"]
    failures = [entry for entry in logs if entry["event"] == "call failed"]
    assert [str(entry["exc_info"]) for entry in failures] == [CONFIDENTIAL] * 5


async def test_a_failure_of_the_domain_keeps_its_code_in_every_kind() -> None:
    async def refuse(request: Any, context: Any) -> StringValue:
        raise MatterNotFound("m1")

    refusing = probe(refuse, refusing_at_once, refuse, refuse, refusing_at_once)
    async with served(NO_DOMAIN, extra=refusing) as server:
        calls = Probe(server.channel)
        for call in of_every_kind(calls):
            refused = await refusal(call)
            assert (refused.code, refused.reason) == (grpc.StatusCode.NOT_FOUND, "MATTER_NOT_FOUND")


async def test_bytes_that_are_no_message_are_an_invalid_request() -> None:
    async with served(NO_DOMAIN, extra=probe()) as server:
        refused = await refusal(Probe(server.channel).raw(b"\xff\xff"))
    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")


async def test_a_cancelled_call_closes_its_generator() -> None:
    closed = asyncio.Event()

    async def endless(request: Any, context: Any) -> AsyncIterator[StringValue]:
        try:
            yield StringValue(value="a")
            await asyncio.Future()
        finally:
            closed.set()

    with capture_logs() as logs:
        async with served(NO_DOMAIN, extra=probe(stream=endless)) as server:
            call = Probe(server.channel).stream()
            assert (await anext(aiter(call))).value == "a"
            call.cancel()
            await asyncio.wait_for(closed.wait(), 5)
    assert [entry["code"] for entry in logs if entry["event"] == "call"] == ["CANCELLED"]


async def test_a_slow_reader_that_leaves_closes_the_generator() -> None:
    """The generator is suspended in a write that the full connection holds up, not in one of its own awaits."""
    closed, sent = asyncio.Event(), asyncio.Event()

    async def flood(request: Any, context: Any) -> AsyncIterator[StringValue]:
        try:
            while True:
                yield StringValue(value="x" * 100_000)
                sent.set()
        finally:
            closed.set()

    async with served(NO_DOMAIN, extra=probe(stream=flood)) as server:
        call = Probe(server.channel).stream()
        await sent.wait()
        call.cancel()
        await asyncio.wait_for(closed.wait(), 5)


async def test_a_cancellation_inside_the_service_is_a_fault_and_not_a_hanging_call() -> None:
    async def cancelled(request: Any, context: Any) -> StringValue:
        raise asyncio.CancelledError

    async with served(NO_DOMAIN, extra=probe(cancelled)) as server:
        refused = await refusal(Probe(server.channel).unary(timeout=5))
    assert (refused.code, refused.reason) == (grpc.StatusCode.INTERNAL, "INTERNAL")


@pytest.mark.parametrize(
    ("sent", "returned"),
    [
        ("abc-1.2:3_X", "abc-1.2:3_X"),
        ('a=b"c {d}', "abcd"),
        ("x" * 500, "x" * 64),
    ],
)
async def test_a_request_id_is_taken_without_what_could_forge_a_log_line(sent: str, returned: str) -> None:
    async with served(NO_DOMAIN, extra=probe()) as server:
        call = Probe(server.channel).unary(metadata=(("x-request-id", sent),))
        await call
        assert dict(await call.trailing_metadata())["x-request-id"] == returned


async def test_a_call_without_a_usable_request_id_gets_one() -> None:
    async with served(NO_DOMAIN, extra=probe()) as server:
        ids = set()
        for metadata in ((), (), (("x-request-id", "{}"),)):
            call = Probe(server.channel).unary(metadata=metadata)
            await call
            ids.add(dict(await call.trailing_metadata())["x-request-id"])
    assert [len(request_id) for request_id in ids] == [32] * 3


async def test_logs_of_a_call_carry_its_request_id() -> None:
    async def told(request: Any, context: Any) -> StringValue:
        return StringValue(value=get_contextvars()["request_id"])

    async with served(NO_DOMAIN, extra=probe(told)) as server:
        answers = [Probe(server.channel).unary(metadata=(("x-request-id", f"r{i}"),)) for i in range(5)]
        assert [(await answer).value for answer in answers] == ["r0", "r1", "r2", "r3", "r4"]


async def test_one_log_line_tells_of_a_call_without_its_contents() -> None:
    with capture_logs() as logs:
        async with served(NO_DOMAIN, extra=probe()) as server:
            await Probe(server.channel).unary(CONFIDENTIAL)
    (line,) = [entry for entry in logs if entry["event"] == "call"]
    assert line.pop("duration_ms") >= 0
    assert line == {"event": "call", "log_level": "info", "method": "/test.Probe/Unary", "code": "OK"}


async def test_an_unary_call_without_a_deadline_gets_one() -> None:
    async def endless(request: Any, context: Any) -> None:
        await asyncio.Future()

    async with served(NO_DOMAIN, extra=probe(endless), unary_timeout_s=0.05) as server:
        refused = await refusal(Probe(server.channel).unary())
    assert (refused.code, refused.reason) == (grpc.StatusCode.DEADLINE_EXCEEDED, "DEADLINE_EXCEEDED")


async def test_the_callers_deadline_takes_the_place_of_the_default() -> None:
    released = asyncio.Event()

    async def slow(request: Any, context: Any) -> StringValue:
        await released.wait()
        return StringValue(value="late")

    async with served(NO_DOMAIN, extra=probe(slow), unary_timeout_s=0.01) as server:
        call = asyncio.ensure_future(Probe(server.channel).unary("x", timeout=20))
        assert not (await asyncio.wait([call], timeout=0.1))[0]
        released.set()
        assert (await call).value == "late"


async def test_a_time_limit_inside_the_service_is_not_taken_for_the_calls_deadline() -> None:
    async def timed_out(request: Any, context: Any) -> StringValue:
        raise TimeoutError("a model")

    async with served(NO_DOMAIN, extra=probe(timed_out)) as server:
        refused = await refusal(Probe(server.channel).unary())
    assert refused.code is grpc.StatusCode.INTERNAL


async def test_streams_have_no_deadline_of_the_service() -> None:
    released = asyncio.Event()

    async def slow(request: Any, context: Any) -> AsyncIterator[StringValue]:
        yield StringValue(value="a")
        await released.wait()
        yield StringValue(value="b")

    async with served(NO_DOMAIN, extra=probe(stream=slow), unary_timeout_s=0.01) as server:
        call = asyncio.ensure_future(texts(Probe(server.channel).stream()))
        assert not (await asyncio.wait([call], timeout=0.1))[0]
        released.set()
        assert await call == ["a", "b"]


async def test_calls_over_the_bound_are_told_when_to_come_back() -> None:
    entered, released = asyncio.Event(), asyncio.Event()

    async def slow(request: Any, context: Any) -> AsyncIterator[StringValue]:
        entered.set()
        await released.wait()
        yield StringValue(value="a")

    async with served(NO_DOMAIN, extra=probe(stream=slow), max_calls_running=1) as server:
        calls = Probe(server.channel)
        running = asyncio.ensure_future(texts(calls.stream()))
        await entered.wait()
        refused = await refusal(calls.unary())
        health: Any = health_pb2_grpc.HealthStub(server.channel)
        assert (await health.Check(health_pb2.HealthCheckRequest())).status == health_pb2.HealthCheckResponse.SERVING
        released.set()
        await running
        assert (await calls.unary("x")).value == "x"
    assert (refused.code, refused.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_BUSY")
    assert refused.details["RetryInfo"].retry_delay.seconds == 1
    assert refused.trailing["grpc-retry-pushback-ms"] == "1000"


async def test_calls_that_are_cancelled_leave_no_task_behind() -> None:
    tasks: list[asyncio.Task[Any]] = []

    async def endless(request: Any, context: Any) -> AsyncIterator[StringValue]:
        tasks.extend(filter(None, [asyncio.current_task()]))
        yield StringValue(value="a")
        await asyncio.Future()

    async with served(NO_DOMAIN, extra=probe(stream=endless)) as server:
        for _ in range(30):
            call = Probe(server.channel).stream()
            await anext(aiter(call))
            call.cancel()
        _, pending = await asyncio.wait(tasks, timeout=10)
    assert len(tasks) == 30
    assert not pending


async def test_a_refusal_in_the_middle_of_a_stream_ends_it() -> None:
    async def half(request: Any, context: Any) -> AsyncIterator[StringValue]:
        yield StringValue(value="a")
        raise InvalidRequest.of("field", "is wrong")

    async with served(NO_DOMAIN, extra=probe(stream=half)) as server:
        answers = aiter(Probe(server.channel).stream())
        assert (await anext(answers)).value == "a"
        refused = await refusal(anext(answers))
    assert refused.violations == {"field": "is wrong"}
