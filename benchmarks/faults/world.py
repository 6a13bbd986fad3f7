"""Runs `proviso serve` in a process of its own, between stand-ins for Gemini and Isaacus on the loopback interface."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import grpc

from benchmarks.document_load import DocumentLoad
from benchmarks.faults.provider import Provider, provider
from benchmarks.faults.turn import Turn, ask
from benchmarks.processes import Child, running
from benchmarks.servers.lifetime import free_port
from benchmarks.startup import until_serving
from tests.support import gemini_server, isaacus_server
from tests.support.gemini_replies import MODEL, Reply, says
from tests.support.isaacus_server import IsaacusServer
from tests.support.running import AGREEMENT

FINE = says("Is it about ", "the agreement?")
"""A reply that needs no source."""

WIDE = "\U00020000"
"""A character of four bytes in UTF-8."""

SCHEDULE_PARAGRAPHS = 1_100

_PARAGRAPH_CHARS = 800


@dataclass(frozen=True)
class World:
    """The running service with its stand-ins. `agreement_id` is a matter with one short agreement, `large_id` one that
    also has a long schedule."""

    gemini: Provider
    isaacus: IsaacusServer
    service: Child
    channel: grpc.aio.Channel
    agreement_id: str
    large_id: str
    numbers: "count[int]"

    async def turn(self, *replies: Reply, large: bool = False) -> Turn:
        """Runs one turn; the replies to its model calls are added to the script."""
        self.gemini.then(*replies)
        message = f"What about the agreement? ({next(self.numbers)})"
        return await ask(self.channel, message, self.large_id if large else self.agreement_id)

    @property
    def requests(self) -> tuple[int, int]:
        """The number of requests that have reached Gemini and Isaacus so far."""
        return self.gemini.attempts, self.isaacus.attempts


@asynccontextmanager
async def fault_world(name: str, folder: Path, models_dir: Path, **settings: dict[str, Any]) -> AsyncIterator[World]:
    """Starts the service with its default settings, changed by the sections in `settings`. Its data and its log in the
    folder are called `name`. Raises ProcessFailed."""
    async with provider() as gemini, isaacus_server.isaacus_server() as isaacus:
        log = folder / f"{name}.log"
        log.with_suffix(".toml").write_text(_toml(gemini.base_url, isaacus.base_url, settings), encoding="utf-8")
        port = free_port()
        flags = ("--port", str(port), "--data-dir", str(folder / name), "--models-dir", str(models_dir))
        async with running(log, "proviso_service.cli", "serve", *flags) as service:
            await until_serving(service, port)
            async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
                agreement_id, large_id = await _matters(DocumentLoad(channel))
                yield World(gemini, isaacus, service, channel, agreement_id, large_id, count(1))
            service.process.terminate()
            await service.process.wait()


def _toml(gemini_url: str, isaacus_url: str, settings: dict[str, dict[str, Any]]) -> str:
    values = {
        "llm": f"google_genai:{MODEL}",
        "GOOGLE_API_KEY": gemini_server.KEY,
        "GOOGLE_GEMINI_BASE_URL": gemini_url,
        "ISAACUS_API_KEY": isaacus_server.KEY,
        "ISAACUS_BASE_URL": isaacus_url,
    }
    lines = [f"{name} = {json.dumps(value)}" for name, value in values.items()]
    for section, chosen in settings.items():
        lines += [f"[{section}]", *(f"{name} = {json.dumps(value)}" for name, value in chosen.items())]
    return "\n".join(lines)


async def _matters(load: DocumentLoad) -> tuple[str, str]:
    agreement = ("agreement.md", AGREEMENT.encode())
    small = await load.ingest("Northwind", [agreement])
    large = await load.ingest("Northwind, with its schedule", [agreement, ("schedule.txt", _schedule())])
    assert not small.failed
    assert not large.failed
    return small.matter_id, large.matter_id


def _schedule() -> bytes:
    """A schedule of many equal paragraphs, which are embedded only once."""
    paragraphs: Sequence[str] = [WIDE * _PARAGRAPH_CHARS] * SCHEDULE_PARAGRAPHS
    return "\n\n".join(paragraphs).encode()
