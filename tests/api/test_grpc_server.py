"""The server as a whole: health, reflection, limits, addresses."""

import asyncio
import json
import sys
from collections.abc import AsyncIterable
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2 as reflection

from proviso_client.v1 import chat_pb2, matters_pb2
from proviso_client.v1.chat_pb2_grpc import ChatServiceStub
from proviso_client.v1.matters_pb2_grpc import MatterServiceStub
from proviso_service.api.interceptors.authentication import AccessControl
from proviso_service.api.server import CannotListen, create_server, listen
from proviso_service.api.standard_services import SERVICE_NAMES, Readiness
from proviso_service.settings import ServerSettings
from tests.api.serving import NO_DOMAIN, conversations, refusal, served

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
ALL_NAMES = {
    "proviso.v1.AccessService",
    "proviso.v1.ChatService",
    "proviso.v1.SessionService",
    "proviso.v1.CatalogService",
    "proviso.v1.MatterService",
    "proviso.v1.ToolService",
    "proviso.v1.MaintenanceService",
}


async def health_of(channel: grpc.aio.Channel) -> dict[str, int]:
    health: Any = health_pb2_grpc.HealthStub(channel)
    return {
        name: (await health.Check(health_pb2.HealthCheckRequest(service=name))).status for name in ("", *SERVICE_NAMES)
    }


async def reflected(channel: grpc.aio.Channel, package: str, **asked: Any) -> reflection.ServerReflectionResponse:
    call: Any = channel.stream_stream(
        f"/{package}.ServerReflection/ServerReflectionInfo",
        request_serializer=reflection.ServerReflectionRequest.SerializeToString,
        response_deserializer=reflection.ServerReflectionResponse.FromString,
    )
    async for answer in call(iter([reflection.ServerReflectionRequest(**asked)])):
        assert isinstance(answer, reflection.ServerReflectionResponse)
        return answer
    raise AssertionError("no answer")


def test_the_contract_has_seven_services() -> None:
    assert set(SERVICE_NAMES) == ALL_NAMES


async def test_health_follows_readiness_for_all_services_and_each() -> None:
    async with served(NO_DOMAIN, ready=False) as server:
        names = {"", *ALL_NAMES}
        assert await health_of(server.channel) == dict.fromkeys(names, NOT_SERVING)
        await server.readiness.set_ready()
        assert await health_of(server.channel) == dict.fromkeys(names, SERVING)
        await server.readiness.enter_shutdown()
        await server.readiness.set_ready()
        assert await health_of(server.channel) == dict.fromkeys(names, NOT_SERVING)


async def test_watching_health_tells_each_change() -> None:
    async with served(NO_DOMAIN, ready=False) as server:
        health: Any = health_pb2_grpc.HealthStub(server.channel)
        states = aiter(health.Watch(health_pb2.HealthCheckRequest(service="proviso.v1.ChatService")))
        assert (await anext(states)).status == NOT_SERVING
        await server.readiness.set_ready()
        assert (await anext(states)).status == SERVING


async def test_health_of_an_unknown_service_is_not_found() -> None:
    async with served(NO_DOMAIN) as server:
        health: Any = health_pb2_grpc.HealthStub(server.channel)
        refused = await refusal(health.Check(health_pb2.HealthCheckRequest(service="other")))
    assert refused.code is grpc.StatusCode.NOT_FOUND


async def test_the_health_of_all_services_is_listed() -> None:
    messages: Any = health_pb2  # the type stubs are older than List
    async with served(NO_DOMAIN) as server:
        health: Any = health_pb2_grpc.HealthStub(server.channel)
        listed = await health.List(messages.HealthListRequest())
    assert {name: answer.status for name, answer in listed.statuses.items()} == dict.fromkeys({"", *ALL_NAMES}, SERVING)


async def test_calls_before_readiness_are_unavailable() -> None:
    async with served(NO_DOMAIN, ready=False) as server:
        refused = await refusal(MatterServiceStub(server.channel).ListMatters(matters_pb2.ListMattersRequest()))
    assert (refused.code, refused.reason) == (grpc.StatusCode.UNAVAILABLE, "NOT_READY")
    assert refused.details["RetryInfo"].retry_delay.seconds == 1


async def test_a_stopping_service_takes_no_new_work_and_still_answers(tmp_path: Path) -> None:
    async with conversations(tmp_path) as domain, served(domain) as server:
        chat = ChatServiceStub(server.channel)
        asked = chat_pb2.ChatRequest(message="Hello", request_id="r-1")
        answer = await chat.Invoke(asked)
        await server.readiness.enter_shutdown()
        await server.turns.drain(0)
        upload = MatterServiceStub(server.channel).UploadDocument(iter([matters_pb2.UploadDocumentRequest()]))
        for call in (chat.Invoke(chat_pb2.ChatRequest()), _all(chat.Chat(chat_pb2.ChatRequest())), upload):
            refused = await refusal(call)
            assert (refused.code, refused.reason) == (grpc.StatusCode.UNAVAILABLE, "DRAINING")
        assert await chat.Invoke(asked) == answer
        turn = await chat.GetTurn(chat_pb2.GetTurnRequest(turn_id=answer.turn_id))
        events = [e async for e in chat.ResumeChat(chat_pb2.ResumeChatRequest(turn_id=answer.turn_id))]
    assert turn.final_state == answer.final_state == events[-1].final_state


async def _all(call: AsyncIterable[Any]) -> list[Any]:
    return [answer async for answer in call]


@pytest.mark.parametrize("package", ["grpc.reflection.v1", "grpc.reflection.v1alpha"])
async def test_reflection_lists_and_describes_every_service(package: str) -> None:
    async with served(NO_DOMAIN) as server:
        listed = await reflected(server.channel, package, list_services="")
        names = {service.name for service in listed.list_services_response.service}
        assert names >= ALL_NAMES | {"grpc.health.v1.Health", f"{package}.ServerReflection"}
        for name in names:
            found = await reflected(server.channel, package, file_containing_symbol=name)
            files = [
                FileDescriptorProto.FromString(data) for data in found.file_descriptor_response.file_descriptor_proto
            ]
            described = {f"{file.package}.{service.name}" for file in files for service in file.service}
            assert name in described


@pytest.mark.parametrize(
    ("symbol", "file"),
    [
        ("proviso.v1.ChatService.Chat", "proviso/v1/chat.proto"),
        ("proviso.v1.ChatRequest.message", "proviso/v1/chat.proto"),
        ("proviso.v1.EXIT_REASON_COMPLETED", "proviso/v1/turns.proto"),
        ("grpc.health.v1.Health.List", "grpc_health/v1/health.proto"),
    ],
)
async def test_reflection_finds_what_lies_inside_services_messages_and_enums(symbol: str, file: str) -> None:
    async with served(NO_DOMAIN) as server:
        found = await reflected(server.channel, "grpc.reflection.v1", file_containing_symbol=symbol)
    first, *_ = found.file_descriptor_response.file_descriptor_proto
    assert FileDescriptorProto.FromString(first).name == file


@pytest.mark.parametrize("symbol", ["proviso.v1.Other", "proviso.v1.ChatService.Other", "Other", ""])
async def test_reflection_does_not_find_what_there_is_not(symbol: str) -> None:
    async with served(NO_DOMAIN) as server:
        found = await reflected(server.channel, "grpc.reflection.v1", file_containing_symbol=symbol)
    assert found.error_response.error_code == grpc.StatusCode.NOT_FOUND.value[0]


async def test_reflection_knows_the_error_details() -> None:
    async with served(NO_DOMAIN) as server:
        found = await reflected(server.channel, "grpc.reflection.v1", file_containing_symbol="google.rpc.BadRequest")
    assert found.file_descriptor_response.file_descriptor_proto


async def test_buf_calls_the_service_by_reflection_alone(tmp_path: Path) -> None:
    buf = Path(sys.executable).with_name("buf")
    async with conversations(tmp_path) as domain, served(domain) as server:
        url = f"http://127.0.0.1:{server.port}/proviso.v1.ChatService/Invoke"
        process = await asyncio.create_subprocess_exec(
            buf, "curl", "--protocol", "grpc", "--http2-prior-knowledge", "--data", '{"message": "Hello"}', url,
            stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        out, _ = await process.communicate()
    assert json.loads(out)["finalState"]["exitReason"] == "EXIT_REASON_COMPLETED"


async def test_a_request_over_the_size_limit_is_refused() -> None:
    async with served(NO_DOMAIN, max_request_bytes=2_000) as server:
        request = chat_pb2.ChatRequest(message="x" * 3_000)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await ChatServiceStub(server.channel).Invoke(request)
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


async def test_a_port_in_use_is_an_error() -> None:
    async with served(NO_DOMAIN) as server:
        taken = ServerSettings(port=server.port)
        second = create_server(taken, await Readiness.starting(), AccessControl())
        with pytest.raises(CannotListen, match=f"127.0.0.1:{server.port}"):
            listen(second, taken)
        await second.stop(None)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])  # noqa: S104 - refused
async def test_an_address_that_others_reach_needs_leave(host: str) -> None:
    settings = ServerSettings(host=host, port=0)
    server = create_server(settings, await Readiness.starting(), AccessControl())
    with pytest.raises(CannotListen, match="--insecure"):
        listen(server, settings)
    await server.stop(None)


async def test_leave_is_given_by_a_setting() -> None:
    settings = ServerSettings(host="0.0.0.0", port=0, insecure=True)  # noqa: S104
    server = create_server(settings, await Readiness.starting(), AccessControl())
    assert listen(server, settings) > 0
    await server.stop(None)
