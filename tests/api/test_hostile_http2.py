"""Clients that abuse HTTP/2: the service answers others meanwhile, and its memory stays bounded."""

import asyncio
import os
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import grpc
import pytest

from proviso_client.v1 import access_pb2
from proviso_client.v1.access_pb2_grpc import AccessServiceStub
from tests.support import http2_frames as http2
from tests.support.served import ServedService, served

ROUNDS = int(os.environ.get("CHAOS_ROUNDS", "1"))
FRAMES = 10_000 * ROUNDS
STREAMS = 1_500
CONNECTIONS = 300
LIMIT_S = 60.0
MAX_GROWTH_MB = 600
GET_CALLER = "/proviso.v1.AccessService/GetCaller"

Writer = asyncio.StreamWriter
Attack = Callable[[str, int], Awaitable[None]]


@asynccontextmanager
async def connected(
    host: str, port: int, *, greeting: bytes = http2.PREFACE + http2.settings()
) -> AsyncIterator[Writer]:
    """A connection that reads what it is sent, and forgets it."""
    reader, writer = await asyncio.open_connection(host, port)

    async def forget() -> None:
        with suppress(OSError):
            while await reader.read(64 * 1024):
                pass

    reading = asyncio.create_task(forget())
    writer.write(greeting)
    try:
        yield writer
    finally:
        writer.close()
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


async def flood(host: str, port: int, piece: Callable[[int], bytes], count: int, first: bytes = b"") -> None:
    """Sends so many pieces, until the service hangs up."""
    with suppress(OSError):
        async with connected(host, port) as writer:
            writer.write(first)
            for number in range(count):
                writer.write(piece(number))
                await writer.drain()


async def rapid_reset(host: str, port: int) -> None:
    reset = struct.pack(">I", http2.CANCEL)
    await flood(
        host,
        port,
        lambda n: http2.call(2 * n + 1, GET_CALLER) + http2.frame(http2.RST_STREAM, stream=2 * n + 1, payload=reset),
        FRAMES // 2,
    )


async def continuation_flood(host: str, port: int) -> None:
    begun = http2.frame(http2.HEADERS, 0, 1, http2.request(GET_CALLER))
    more = http2.frame(http2.CONTINUATION, 0, 1, http2.header(b"x-a", b"a" * 1_000) * 10)
    await flood(host, port, lambda _: more, FRAMES // 2, begun)


async def huge_headers(host: str, port: int) -> None:
    block = http2.request(GET_CALLER, http2.header(b"x-a", b"a" * 1_000_000))
    pieces = [block[start : start + 16_000] for start in range(0, len(block), 16_000)]

    def piece(number: int) -> bytes:
        kind = http2.CONTINUATION if number % len(pieces) else http2.HEADERS
        stream = 2 * (number // len(pieces)) + 1
        flags = http2.END_HEADERS if number % len(pieces) == len(pieces) - 1 else 0
        return http2.frame(kind, flags, stream, pieces[number % len(pieces)])

    await flood(host, port, piece, 10 * len(pieces))


async def ping_flood(host: str, port: int) -> None:
    ping = http2.frame(http2.PING, payload=b"\0" * 8)
    await flood(host, port, lambda _: ping, FRAMES)


async def settings_flood(host: str, port: int) -> None:
    await flood(host, port, lambda n: http2.settings({http2.INITIAL_WINDOW_SIZE: 65_535 + n % 2}), FRAMES)


async def window_stall(host: str, port: int) -> None:
    """Calls whose answers are never let through."""
    with suppress(OSError):
        greeting = http2.PREFACE + http2.settings({http2.INITIAL_WINDOW_SIZE: 0})
        async with connected(host, port, greeting=greeting) as writer:
            for number in range(STREAMS):
                writer.write(http2.call(2 * number + 1, GET_CALLER))
                await writer.drain()
            await others_are_answered(host, port)


async def silent_connections(host: str, port: int) -> None:
    """Connections that say nothing, and those that say their first words one letter at a time."""
    async with asyncio.TaskGroup() as group:
        begun = asyncio.Barrier(CONNECTIONS + 1)

        async def hold(number: int) -> None:
            with suppress(OSError):
                async with connected(host, port, greeting=b"") as writer:
                    for letter in http2.PREFACE[: number % len(http2.PREFACE)]:
                        writer.write(bytes([letter]))
                        await writer.drain()
                    await begun.wait()
                    await begun.wait()

        for number in range(CONNECTIONS):
            group.create_task(hold(number))
        await begun.wait()
        await others_are_answered(host, port)
        await begun.wait()


ATTACKS: dict[str, Attack] = {
    "rapid reset": rapid_reset,
    "continuation flood": continuation_flood,
    "huge headers": huge_headers,
    "ping flood": ping_flood,
    "settings flood": settings_flood,
    "window stall": window_stall,
    "silent connections": silent_connections,
}


async def others_are_answered(host: str, port: int) -> None:
    """A client of its own is answered, over a new connection."""
    options = (("grpc.use_local_subchannel_pool", 1),)
    async with grpc.aio.insecure_channel(f"{host}:{port}", options=options) as channel:
        await AccessServiceStub(channel).GetCaller(access_pb2.GetCallerRequest(), timeout=LIMIT_S)


def peak_mb(service: ServedService) -> float:
    """The most memory that the process has had."""
    status = Path(f"/proc/{service.process.pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1_000


@pytest.mark.timeout(300)
async def test_hostile_clients_keep_nobody_from_being_answered(tmp_path: Path, models_dir: Path) -> None:
    async with served(tmp_path, models_dir) as service:
        host, _, port = service.log[-1]["address"].rpartition(":")
        known = AccessServiceStub(service.channel)
        before_mb = peak_mb(service)
        for name, attack in ATTACKS.items():
            attacking = asyncio.gather(*(attack(host, int(port)) for _ in range(4)))
            answered = 0
            while not attacking.done():
                await known.GetCaller(access_pb2.GetCallerRequest(), timeout=LIMIT_S)
                await others_are_answered(host, int(port))
                answered += 1
            await attacking
            await known.GetCaller(access_pb2.GetCallerRequest(), timeout=LIMIT_S)
            print(f"counted {answered} answers during {name}, {peak_mb(service) - before_mb:.0f} MB")
        assert peak_mb(service) - before_mb < MAX_GROWTH_MB
        # gRPC says in the log that an answer could not be sent.
        assert {line.get("logger") for line in service.log if line.get("level") == "error"} <= {"grpc._cython.cygrpc"}
