"""The numbers that a service tells of itself, as their collector receives them."""

import asyncio
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import pytest

from proviso_service.settings import TelemetrySettings
from proviso_service.telemetry import metrics
from proviso_service.telemetry.metrics import Kind, Metric, sending
from tests.support.otlp_receiver import Numbers, OtlpReceiver, otlp_receiver, value_of
from tests.support.redis_server import RedisServer
from tests.support.running import AGREEMENT, RunningService, running_service
from tests.support.scripted_model import Step, text

OFTEN_MS = "50"
OF_EVERY_SERVICE = {
    "proviso.turns.running",
    "proviso.turns.waiting",
    "proviso.turns.capacity",
    "proviso.turns.taken_over",
    "proviso.calls.refused/turns",
    "proviso.calls.refused/tool calls",
    "proviso.calls.refused/uploads",
    "proviso.documents.waiting",
    "proviso.documents.under_way",
    "proviso.storage.sound",
    "proviso.index.size",
}


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[OtlpReceiver]:
    monkeypatch.setenv("OTEL_METRIC_EXPORT_INTERVAL", OFTEN_MS)
    with otlp_receiver() as receiving:
        yield receiving


async def received(receiver: OtlpReceiver, holds: Callable[[Numbers], bool]) -> Numbers:
    """The numbers that come while the event loop goes on."""
    return await asyncio.to_thread(receiver.metrics.wait_until, holds)


def being(name: str, number: int) -> Callable[[Numbers], bool]:
    return lambda numbers: numbers.get(name) == number


def telemetry(receiver: OtlpReceiver) -> dict[str, str]:
    return {"otlp_endpoint": receiver.endpoint}


async def turn_of(service: RunningService, message: str, matter_id: str) -> None:
    await service.ask(message, matter_id)


async def test_a_turn_counts_while_it_runs(tmp_path: Path, models_dir: Path, receiver: OtlpReceiver) -> None:
    may_end = asyncio.Event()
    step = Step(tokens=("Thirty days.",), hold=may_end)
    async with running_service(tmp_path, models_dir, step, telemetry=telemetry(receiver)) as service:
        idle = await received(receiver, lambda numbers: numbers.keys() >= OF_EVERY_SERVICE)
        assert idle["proviso.turns.running"] == idle["proviso.turns.waiting"] == 0
        assert idle["proviso.turns.capacity"] >= 1
        assert idle["proviso.storage.sound"] == 1
        assert "proviso.redis.up" not in idle
        matter_id = await service.create_matter(agreement=AGREEMENT)
        asking = asyncio.create_task(turn_of(service, "What is the swordfish fee?", matter_id))
        await received(receiver, being("proviso.turns.running", 1))
        assert not asking.done()
        may_end.set()
        await asking
        await received(receiver, being("proviso.turns.running", 0))
    assert b"swordfish" not in b"".join(sent.SerializeToString() for sent in receiver.metrics.requests)


async def test_a_refused_call_is_counted_for_its_work(tmp_path: Path, models_dir: Path, receiver: OtlpReceiver) -> None:
    may_end = asyncio.Event()
    step = Step(tokens=("Thirty days.",), hold=may_end)
    places = {"max_turns_running": 1}
    async with running_service(tmp_path, models_dir, step, server=places, telemetry=telemetry(receiver)) as service:
        matter_id = await service.create_matter(agreement=AGREEMENT)
        asking = asyncio.create_task(turn_of(service, "What is the fee?", matter_id))
        await received(receiver, being("proviso.turns.running", 1))
        assert not asking.done()
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await service.ask("What is the fee?", matter_id)
        assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        await received(receiver, being("proviso.calls.refused/turns", 1))
        may_end.set()
        await asking


async def test_a_lost_redis_is_told_and_its_return(
    tmp_path: Path, models_dir: Path, receiver: OtlpReceiver, own_redis: RedisServer
) -> None:
    storage = {"redis_url": own_redis.url}
    async with running_service(
        tmp_path / "data", models_dir, text("Thirty days."), storage=storage, telemetry=telemetry(receiver)
    ) as service:
        await received(receiver, being("proviso.redis.up", 1))
        own_redis.kill()
        await service.ask("What is the notice period?")
        await received(receiver, being("proviso.redis.up", 0))
        own_redis.start()
        await received(receiver, being("proviso.redis.up", 1))


async def test_the_last_numbers_are_sent_at_the_end_with_the_names_of_service_and_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_METRIC_EXPORT_INTERVAL", "600000")
    with otlp_receiver() as receiver:
        async with sending(TelemetrySettings(otlp_endpoint=receiver.endpoint), [counted({"turns": 2})]):
            assert receiver.metrics.requests == []
        assert receiver.metrics.latest == {"counted/turns": 2}
        resource = receiver.metrics.requests[-1].resource_metrics[0].resource
        told = {attribute.key: value_of(attribute.value) for attribute in resource.attributes}
        assert told["service.name"] == "proviso"
        assert told["service.instance.id"]


async def test_a_silent_collector_holds_up_the_end_for_a_bounded_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "FLUSH_TIME_LIMIT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        async with sending(TelemetrySettings(otlp_endpoint=endpoint), [counted({"turns": 2})]):
            started = time.monotonic()
        assert time.monotonic() - started < metrics.EXPORT_TIME_LIMIT_S


def counted(numbers: dict[str, int]) -> Metric:
    return Metric("counted", "{call}", "Calls", Kind.TOTAL, lambda: numbers)
