"""What the drill runs on this machine: replicas, workers, Envoy, PostgreSQL, Redis and an S3 store, as processes that
are killed and started again at the addresses that they had."""

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.agent_servers import with_servers
from tests.support.envoy import Envoy, running_envoy
from tests.support.postgres_server import PostgresServer
from tests.support.redis_server import RedisServer
from tests.support.s3_server import Bucket, s3_server
from tests.support.s3_server import environment as s3_environment
from tests.support.served import command, environment
from tests.support.tls_files import TlsAuthority

AWAY_S = 3.0
"""How long what was killed is away before it is started again."""

NOTES = "notes"
"""The MCP server, whose tool `note` writes down each of its effects and needs an approval."""


@dataclass
class Part:
    """A process of the service, which is started again by the same command. Its log has all its lives."""

    name: str
    command: list[str]
    environment: Mapping[str, str]
    log: Path
    process: subprocess.Popen[bytes] | None = None
    kills: int = 0

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command, env=self.environment, stdin=subprocess.PIPE, stdout=log, stderr=log
            )

    async def kill(self) -> None:
        """As `kill -9`."""
        if self.process is not None:
            self.process.kill()
            await asyncio.to_thread(self.process.communicate)
            self.process = None
            self.kills += 1

    def ended_of_itself(self) -> int | None:
        """The exit code of a process that nobody has killed and that runs no more."""
        return self.process.poll() if self.process is not None else None


@dataclass
class Deployment:
    folder: Path
    envoy: Envoy
    authority: TlsAuthority
    postgres: PostgresServer
    redis: RedisServer
    bucket: Bucket
    replicas: list[Part]
    workers: list[Part]
    _turn: dict[str, int] = field(default_factory=dict)

    @property
    def parts(self) -> list[Part]:
        return [*self.replicas, *self.workers]

    async def kill_next(self, parts: list[Part]) -> str:
        """Kills one of the processes, each when it is its turn, and starts it again. Returns its name."""
        kind = parts[0].name.partition("-")[0]
        turn = self._turn[kind] = self._turn.get(kind, -1) + 1
        part = parts[turn % len(parts)]
        await part.kill()
        await asyncio.sleep(AWAY_S)
        part.start()
        return part.name

    async def restart_redis(self) -> str:
        """Redis keeps nothing: it comes back empty."""
        await asyncio.to_thread(self.redis.kill)
        await asyncio.sleep(AWAY_S)
        await asyncio.to_thread(self.redis.start)
        return "redis"

    async def restart_postgres(self) -> str:
        await asyncio.to_thread(self.postgres.stop)
        await asyncio.sleep(AWAY_S)
        await asyncio.to_thread(self.postgres.start)
        return "postgresql"

    def logged(self, event: str) -> int:
        """How many log lines of the replicas and workers name an event."""
        return sum(part.log.read_text(errors="replace").count(event) for part in self.parts if part.log.exists())


@asynccontextmanager
async def deployed(folder: Path, models_dir: Path, replicas: int, workers: int) -> AsyncIterator[Deployment]:
    """Everything, until the end of the block. Envoy has found all replicas well before it begins."""
    agent = folder / "agent"
    agent.mkdir()
    server = {"command": sys.executable, "args": ["-m", "tests.support.noting_mcp_server"]}
    with_servers(agent, {NOTES: server | {"include": "always", "approval": "required"}})
    authority = TlsAuthority(folder)
    async with AsyncExitStack() as stack:
        postgres, redis, ports = PostgresServer(), RedisServer(folder / "redis"), _lasting_ports(replicas + 2)
        postgres.port, redis.port = ports.pop(), ports.pop()
        stack.enter_context(postgres)
        stack.enter_context(redis)
        s3_port = stack.enter_context(s3_server())
        bucket = Bucket.new(s3_port)
        storage = {"redis_url": redis.url, "blob_url": bucket.url, "state_url": stack.enter_context(postgres.state())}
        parts: list[Part] = []
        os.environ.update(s3_environment(s3_port))
        inherited = environment()
        del inherited["GRPC_ENABLE_FORK_SUPPORT"]  # is the drill's own
        for number, port in enumerate(ports, 1):
            settings = _replica_settings(authority, agent, port, storage, is_served=bool(workers))
            parts.append(_replica(folder, models_dir, f"replica-{number}", settings, inherited))
        names = [f"worker-{number}" for number in range(1, workers + 1)]
        parts += [_worker(folder, models_dir, name, storage, inherited) for name in names]
        for part in parts:
            stack.push_async_callback(part.kill)
            part.start()
        envoy = await stack.enter_async_context(running_envoy(folder / "envoy", authority, ports))
        yield Deployment(folder, envoy, authority, postgres, redis, bucket, parts[:replicas], parts[replicas:])


def _replica_settings(
    authority: TlsAuthority, agent: Path, port: int, storage: Mapping[str, str], *, is_served: bool
) -> dict[str, Any]:
    certificate, key = authority.server(f"server-{port}")
    return {
        "agent_dir": str(agent),
        "server": {"port": port, "tls_cert": str(certificate), "tls_key": str(key), "drain_s": 0.5},
        "turns": {"time_limit_s": 600.0},  # a machine that does all of this itself is slow at times
        "documents": {"ingest_workers": 0 if is_served else 2},
        "storage": dict(storage),
        "telemetry": {"log_format": "json"},
    }


def _replica(folder: Path, models_dir: Path, name: str, settings: dict[str, Any], inherited: Mapping[str, str]) -> Part:
    arguments = (folder / name, models_dir, json.dumps(settings))
    started = [sys.executable, "-m", "tests.drill.replica", *map(str, arguments)]
    return Part(name, started, inherited, folder / f"{name}.log")


def _worker(
    folder: Path, models_dir: Path, name: str, storage: Mapping[str, str], inherited: Mapping[str, str]
) -> Part:
    own = {f"PROVISO_STORAGE__{key.upper()}": value for key, value in storage.items()}
    started = command("worker", "--data-dir", folder / name, "--models-dir", models_dir)
    settings = dict(inherited) | own | {"PROVISO_TELEMETRY__LOG_FORMAT": "json"}
    return Part(name, started, settings, folder / f"{name}.log")


def _lasting_ports(count: int) -> list[int]:
    """Free ports that the system gives to no connection while those who listen at them are away."""
    first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    found: list[int] = []
    for port in range(first - 1, 1_024, -1):
        with closing(socket.socket()) as tried, suppress(OSError):
            tried.bind(("127.0.0.1", port))
            found.append(port)
        if len(found) == count:
            break
    return found


def models_folder() -> Path:
    """The checkout's own folder of models, which `make setup` has prepared."""
    return Path(__file__).parents[2] / ".proviso" / "models"
