"""What deploy/chart/files/envoy.yaml does, in the real Envoy, before two replicas and servers that fail as told."""

# ruff: noqa: N802  methods have the names of the contract

import asyncio
import ssl
import struct
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest
import pytest_asyncio
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from proviso_client import AsyncClient, RetryPolicy, TlsCredentials
from proviso_client.errors import Unavailable
from proviso_client.v1 import chat_pb2, matters_pb2
from proviso_client.v1.chat_pb2_grpc import ChatServiceServicer, ChatServiceStub, add_ChatServiceServicer_to_server
from proviso_client.v1.context_pb2 import DocumentContext
from proviso_service.turns.config import TurnConfig
from tests.support.envoy import Envoy, routes, running_envoy, shipped
from tests.support.running import chat_request, running_service
from tests.support.scripted_model import Step
from tests.support.served import ServedService, served
from tests.support.tls_files import TlsAuthority

pytestmark = pytest.mark.asyncio(loop_scope="module")

MATTERS = [f"7d444840-9dc0-11d1-b245-5ffdce74fa{number:02d}" for number in range(20)]
LISTING = "proviso.v1.MatterService/ListMatters"
GONE_WITHIN_S = 30.0
"""Two health checks after 2 s each, and what a busy machine needs."""

ONCE = RetryPolicy(max_attempts=1)


@dataclass(frozen=True)
class Replicas:
    """Two replicas, each with a state of its own that has one matter, "left" or "right"; and Envoy before them."""

    envoy: Envoy
    authority: TlsAuthority
    services: dict[str, ServedService]

    def client(self, **arguments: Any) -> AsyncClient:
        credentials = TlsCredentials(root_ca=self.authority.ca)
        return AsyncClient(self.envoy.target, credentials=credentials, retries=ONCE, **arguments)

    async def answering(self, matter_id: str) -> str:
        """The replica that a call about a matter comes to."""
        async with self.client(metadata=(("proviso-matter", matter_id),)) as client:
            return (await anext(aiter(client.matters.list()))).name

    def http(self) -> httpx.AsyncClient:
        trusting = ssl.create_default_context(cafile=str(self.authority.ca))
        return httpx.AsyncClient(base_url=self.envoy.url, verify=trusting, timeout=20.0)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def replicas(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> AsyncIterator[Replicas]:
    folder = tmp_path_factory.mktemp("replicas")
    authority = TlsAuthority(folder)
    certificate, key = authority.server()
    tls = {"SERVER__TLS_CERT": str(certificate), "SERVER__TLS_KEY": str(key)}
    async with AsyncExitStack() as stack:
        started = await asyncio.gather(
            *(stack.enter_async_context(served(folder / name, models_dir, **tls)) for name in ("left", "right"))
        )
        services = dict(zip(("left", "right"), started, strict=True))
        ports = []
        for name, service in services.items():
            port = int(service.lines("serving")[-1]["address"].rpartition(":")[2])
            async with AsyncClient(f"localhost:{port}", credentials=TlsCredentials(root_ca=authority.ca)) as client:
                await client.matters.create(name)
            ports.append(port)
        envoy = await stack.enter_async_context(running_envoy(folder / "envoy", authority, ports))
        yield Replicas(envoy, authority, services)


async def test_a_call_in_json_is_answered_in_json(replicas: Replicas) -> None:
    async with replicas.http() as http:
        listed = await http.post(LISTING, json={"pageSize": 5})
        refused = await http.post("proviso.v1.MatterService/GetMatter", json={"matterId": "none"})
        unknown = await http.post("proviso.v1.MatterService/Burn", json={})
    assert listed.json()["matters"][0]["name"] in replicas.services
    assert (refused.status_code, refused.json()["code"]) == (400, grpc.StatusCode.INVALID_ARGUMENT.value[0])
    assert unknown.status_code == 404


async def test_a_turn_in_json_is_a_list_of_events(replicas: Replicas) -> None:
    async with replicas.http() as http:
        answer = await http.post("proviso.v1.ChatService/Chat", json={"message": " "})
    assert answer.json()[-1]["finalState"]["exitReason"] == "EXIT_REASON_EMPTY_INPUT"


async def test_a_call_of_grpc_web_is_answered_with_its_trailers(replicas: Replicas) -> None:
    request = matters_pb2.ListMattersRequest().SerializeToString()
    headers = {"content-type": "application/grpc-web+proto", "x-grpc-web": "1"}
    async with replicas.http() as http:
        answer = await http.post(LISTING, content=struct.pack(">BI", 0, len(request)) + request, headers=headers)
    (kind, message), (last, trailers) = frames(answer.content)
    assert (kind, last) == (0, 0x80)
    assert matters_pb2.ListMattersResponse.FromString(message).matters[0].name in replicas.services
    assert b"grpc-status:0" in trailers


def frames(body: bytes) -> list[tuple[int, bytes]]:
    """The frames of an answer in gRPC-Web, each with its kind."""
    found = []
    while body:
        kind, size = struct.unpack(">BI", body[:5])
        found.append((kind, body[5 : 5 + size]))
        body = body[5 + size :]
    return found


async def test_calls_about_a_matter_come_to_one_replica_and_to_another_once_that_is_killed(replicas: Replicas) -> None:
    places = {matter: await replicas.answering(matter) for matter in MATTERS}
    assert set(places.values()) == {"left", "right"}
    assert {matter: await replicas.answering(matter) for matter in MATTERS} == places
    await replicas.services["left"].kill()
    async with asyncio.timeout(GONE_WITHIN_S):
        for matter in MATTERS:
            while True:
                with suppress(Unavailable):
                    assert await replicas.answering(matter) == "right"
                    break


async def test_the_silence_that_is_allowed_is_longer_than_three_heartbeats(tmp_path: Path) -> None:
    of_turns = [route for route in routes(shipped(tmp_path)) if "Chat" in str(route["match"])]
    allowed = [float(route["route"]["idle_timeout"].removesuffix("s")) for route in of_turns]
    assert len(allowed) == 2
    assert min(allowed) > 3 * TurnConfig().heartbeat_s


@pytest.mark.parametrize(("heartbeat_s", "is_cut"), [(0.3, False), (60.0, True)], ids=["heartbeats", "silence"])
async def test_heartbeats_keep_a_silent_turn_open(
    tmp_path: Path, models_dir: Path, heartbeat_s: float, is_cut: bool
) -> None:
    idle_s, authority, go_on = 1.5, TlsAuthority(tmp_path), asyncio.Event()
    certificate, key = authority.server()
    server = {"tls_cert": certificate, "tls_key": key}
    async with (
        running_service(
            tmp_path / "data",
            models_dir,
            Step(("You are ", "welcome."), hold=go_on),
            server=server,
            turns={"heartbeat_s": heartbeat_s},
        ) as service,
        running_envoy(tmp_path / "envoy", authority, [service.app.port], idle_s) as envoy,
        channel_of(envoy, authority) as channel,
    ):
        lease = DocumentContext(filename="lease.pdf", type="lease", summary="The notice period is thirty days.")
        request = chat_request("What is the notice period?", document_context=[lease])
        call = ChatServiceStub(channel).Chat(request, timeout=20.0)
        events: list[chat_pb2.AgentEvent] = []
        while isinstance(event := await next_of(call), chat_pb2.AgentEvent):
            events.append(event)
            if sum(one.HasField("heartbeat") for one in events) * heartbeat_s > 2 * idle_s:
                go_on.set()
        go_on.set()
        assert (await call.code() == grpc.StatusCode.OK) is not is_cut


async def next_of(call: Any) -> Any:
    """The next event of a stream; none where it has ended, however it did."""
    with suppress(grpc.aio.AioRpcError):
        return await call.read()
    return None


def channel_of(envoy: Envoy, authority: TlsAuthority) -> grpc.aio.Channel:
    return grpc.aio.secure_channel(envoy.target, grpc.ssl_channel_credentials(authority.ca.read_bytes()))


@dataclass
class Failing(ChatServiceServicer):
    """Fails the first call, with as much of an answer as it is told; answers the others."""

    metadata: bool
    events: int
    code: grpc.StatusCode
    calls: list[str] = field(default_factory=list)

    async def Chat(self, request: chat_pb2.ChatRequest, context: Any) -> AsyncIterator[chat_pb2.AgentEvent]:
        self.calls.append(request.message)
        if len(self.calls) == 1:
            if self.metadata:
                await context.send_initial_metadata((("proviso-turn-id", "turn"),))
            for sequence in range(1, self.events + 1):
                yield chat_pb2.AgentEvent(sequence=sequence, turn_start=chat_pb2.TurnStart())
            await context.abort(self.code, "as told")
        yield chat_pb2.AgentEvent(sequence=1, final_state=chat_pb2.FinalState(message="Done."))


@asynccontextmanager
async def behind_envoy(folder: Path, failing: Failing) -> AsyncIterator[grpc.aio.Channel]:
    """A channel to Envoy before two servers, which share the servicer."""
    authority = TlsAuthority(folder)
    certificate, key = authority.server()
    credentials = grpc.ssl_server_credentials([(key.read_bytes(), certificate.read_bytes())])
    async with AsyncExitStack() as stack:
        ports = []
        for _ in range(2):
            server = grpc.aio.server()
            add_ChatServiceServicer_to_server(failing, server)
            healthy = health.aio.HealthServicer()
            await healthy.set("", health_pb2.HealthCheckResponse.SERVING)
            health_pb2_grpc.add_HealthServicer_to_server(healthy, server)
            ports.append(server.add_secure_port("127.0.0.1:0", credentials))
            await server.start()
            stack.push_async_callback(server.stop, 0)
        envoy = await stack.enter_async_context(running_envoy(folder / "envoy", authority, ports))
        yield await stack.enter_async_context(channel_of(envoy, authority))


@pytest.mark.parametrize("code", [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED])
async def test_a_refused_turn_is_tried_at_another_replica(tmp_path: Path, code: grpc.StatusCode) -> None:
    failing = Failing(metadata=False, events=0, code=code)  # type: ignore[abstract]  # the rest is not asked for
    async with behind_envoy(tmp_path, failing) as channel:
        events = [event async for event in ChatServiceStub(channel).Chat(chat_request("Hi"), timeout=20.0)]
    assert [event.final_state.message for event in events] == ["Done."]
    assert failing.calls == ["Hi", "Hi"]


@pytest.mark.parametrize("events", [0, 1], ids=["metadata", "an event"])
async def test_a_turn_that_has_begun_is_not_begun_again(tmp_path: Path, events: int) -> None:
    code = grpc.StatusCode.UNAVAILABLE
    failing = Failing(metadata=True, events=events, code=code)  # type: ignore[abstract]  # the rest is not asked for
    async with behind_envoy(tmp_path, failing) as channel:
        call = ChatServiceStub(channel).Chat(chat_request("Hi"), timeout=20.0)
        for _ in range(events):
            assert isinstance(await next_of(call), chat_pb2.AgentEvent)
        assert (await call.code(), failing.calls) == (code, ["Hi"])
