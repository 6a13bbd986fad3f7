"""Credentials over a real channel, with the whole service: which calls are answered, and for whom."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2

from proviso_client.v1 import access_pb2 as pb
from proviso_service.access import ApiKey, digest_of, new_key
from proviso_service.backends.sql.access import SqlApiKeyStore
from proviso_service.backends.sql.database import Database, utc_now
from proviso_service.identity import Role
from proviso_service.wiring_access import api_key_secret
from tests.support.access_world import METHODS, TIMEOUT_S, Callers, Metadata, answers, callers, method_named, request_of
from tests.support.configured import configured
from tests.support.running import running_service
from tests.support.tls_files import TlsAuthority
from tests.support.token_issuer import Issuer

GET_CALLER = method_named("GetCaller")


@pytest.fixture
async def world(tmp_path: Path, models_dir: Path) -> AsyncIterator[Callers]:
    async with callers(tmp_path, models_dir, auth={"api_keys": True}) as running:
        yield running


async def who(running: Callers, metadata: Metadata, user_id: str = "") -> pb.GetCallerResponse:
    found: pb.GetCallerResponse = await running.ask("GetCaller", metadata, user_id=user_id)
    return found


async def refusal(running: Callers, metadata: Metadata, user_id: str = "") -> str:
    found = await running.call(GET_CALLER, request_of(GET_CALLER, user_id=user_id), metadata)
    return found.reason


def bearer(token: str) -> Metadata:
    return (("authorization", f"Bearer {token}"),)


async def test_every_method_asks_for_credentials(world: Callers) -> None:
    for method in METHODS:
        for metadata in ((), bearer("abc"), bearer("pvk_0123456789abcdef_" + "A" * 43), bearer("a.b.c")):
            found = await world.call(method, request_of(method), metadata)
            assert (found.code, found.reason) == (grpc.StatusCode.UNAUTHENTICATED, "UNAUTHENTICATED"), method.name


async def test_health_is_open_and_reflection_too_where_it_is_wanted(world: Callers) -> None:
    channel = world.service.channel
    stub: Any = health_pb2_grpc.HealthStub(channel)
    health = await stub.Check(health_pb2.HealthCheckRequest(), timeout=TIMEOUT_S)
    assert health.status == health_pb2.HealthCheckResponse.SERVING
    assert "proviso.v1.ChatService" in await reflected(channel)


async def test_reflection_can_be_switched_off(tmp_path: Path, models_dir: Path) -> None:
    async with running_service(tmp_path / "data", models_dir, server={"reflection": False}) as service:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await reflected(service.channel)
        assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def reflected(channel: grpc.aio.Channel) -> list[str]:
    asked = [reflection_pb2.ServerReflectionRequest(list_services="")]
    ask: Any = channel.stream_stream(
        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
        request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
        response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
    )
    found = [answer async for answer in ask(iter(asked), timeout=TIMEOUT_S)]
    return [service.name for service in found[0].list_services_response.service]


@pytest.mark.parametrize(
    "metadata",
    [
        (("authorization", "abc"),),
        (("authorization", ""),),
        (("authorization", "Basic YTpi"),),
        (("authorization", "Bearer"),),
        (("authorization", "Bearer a.b.c"), ("authorization", "Bearer a.b.c")),
        (("authorization-bin", b"Bearer a.b.c"),),
    ],
    ids=str,
)
async def test_metadata_of_another_form(world: Callers, metadata: Metadata) -> None:
    assert await refusal(world, metadata) == "UNAUTHENTICATED"


async def test_tokens_and_keys_name_the_caller(world: Callers, tmp_path: Path) -> None:
    caller = await who(world, world.metadata("smith", "ada", roles=["auditor", "admin"]))
    assert (caller.tenant, caller.user_id, caller.authenticated) == ("smith", "ada", True)
    assert list(caller.roles) == [pb.CALLER_ROLE_ADMIN, pb.CALLER_ROLE_AUDITOR]
    first, second = [await made_key(tmp_path / "data", "importer") for _ in range(2)]
    for key in (first, second):
        caller = await who(world, bearer(key))
        assert (caller.tenant, caller.user_id) == ("smith", "importer")
    await with_keys(tmp_path / "data", revoked=first.split("_")[1])
    assert await refusal(world, bearer(first)) == "UNAUTHENTICATED"
    assert await who(world, bearer(second))
    expired = await made_key(tmp_path / "data", "importer", days=-1)
    assert await refusal(world, bearer(expired)) == "UNAUTHENTICATED"


async def made_key(data: Path, name: str, *roles: Role, days: int | None = None) -> str:
    key_id, key = new_key()
    digest = digest_of(api_key_secret(configured({"data_dir": data})[0]), key)
    expires = None if days is None else utc_now() + timedelta(days=days)
    await with_keys(data, ApiKey(key_id, "smith", name, frozenset(roles), digest, utc_now(), expires))
    return key


async def with_keys(data: Path, made: ApiKey | None = None, revoked: str = "") -> None:
    """As `proviso keys` does, beside the service."""
    database = Database(f"sqlite:///{data / 'state.sqlite3'}")
    try:
        store = SqlApiKeyStore(database)
        if made:
            await store.add(made)
        if revoked:
            assert await store.revoke(revoked)
    finally:
        await database.close()


async def test_a_credential_names_users_only_with_the_role_for_it(world: Callers) -> None:
    plain = world.metadata("smith", "gateway", roles=["admin", "operator", "auditor"])
    assert await refusal(world, plain, "ada") == "PERMISSION_DENIED"
    assert await refusal(world, (*plain, ("x-user-id", "ada"))) == "PERMISSION_DENIED"
    assert (await who(world, plain, "gateway")).user_id == "gateway"


async def test_who_acts_for_a_user_has_the_users_rights_alone(world: Callers) -> None:
    gateway = world.metadata("smith", "gateway", roles=["admin", "operator", "auditor", "act_for_users"])
    for found in (await who(world, gateway, "ada"), await who(world, (*gateway, ("x-user-id", "ada")))):
        assert (found.tenant, found.user_id) == ("smith", "ada")
        assert list(found.roles) == [pb.CALLER_ROLE_ACT_FOR_USERS]
    matter = await world.matter(world.metadata("smith", "bob"))
    assert await world.ask("GetMatter", gateway, matter_id=matter)
    acting = await world.call(
        method_named("GetMatter"),
        request_of(method_named("GetMatter"), matter_id=matter),
        (*gateway, ("x-user-id", "ada")),
    )
    assert acting.reason == "MATTER_NOT_FOUND"
    assert len((await world.ask("ListMatters", (*gateway, ("x-user-id", "bob")))).matters) == 1
    assert not (await world.ask("ListMatters", (*gateway, ("x-user-id", "ada")))).matters
    assert await refusal(world, (*gateway, ("x-user-id", "a" * 129))) == "INVALID_REQUEST"


async def test_a_request_names_nobody_but_the_user_whom_the_metadata_names(world: Callers) -> None:
    """A gateway says by the metadata for whom it acts; what it passes on of a person's request does not change that."""
    ada = (*world.metadata("smith", "gateway", roles=["act_for_users"]), ("x-user-id", "ada"))
    assert await refusal(world, ada, "bob") == "PERMISSION_DENIED"
    assert await refusal(world, ada, "gateway") == "PERMISSION_DENIED"
    assert (await who(world, ada, "ada")).user_id == "ada"


async def test_conversations_belong_to_the_user_who_is_named(world: Callers) -> None:
    gateway = world.metadata("smith", "gateway", roles=["act_for_users"])
    await world.ask("CreateSession", gateway, session_id="s", user_id="ada")
    for metadata in ((*gateway, ("x-user-id", "ada")), world.metadata("smith", "ada")):
        assert (await world.ask("GetSession", metadata, session_id="s")).session.session_id == "s"
    assert not (await world.ask("ListSessions", gateway)).sessions
    assert not (await world.ask("ListSessions", world.metadata("jones", "ada"))).sessions


async def test_without_authentication_everybody_may_do_everything(tmp_path: Path, models_dir: Path) -> None:
    async with running_service(tmp_path / "data", models_dir) as service:
        open_world = Callers(service, Issuer(keys={}))
        for metadata in ((), (("x-user-id", "bob"),)):
            found = await who(open_world, metadata)
            assert (found.tenant, found.user_id) == ("local", "bob" if metadata else "local")
            assert len(found.roles) == 4
            assert not found.authenticated


async def test_a_client_certificate_names_the_caller(tmp_path: Path, models_dir: Path) -> None:
    authority = TlsAuthority(tmp_path)
    certificate, key = authority.server()
    peers = tmp_path / "peers.toml"
    peers.write_text('["spiffe://example.org/importer"]\ntenant = "smith"\nuser = "importer"\nroles = ["operator"]\n')
    server = {"tls_cert": certificate, "tls_key": key, "tls_client_ca": authority.ca}
    known = authority.client("spiffe://example.org/importer", "known")
    unknown = authority.client("spiffe://example.org/stranger", "unknown")
    async with running_service(tmp_path / "data", models_dir, server=server, auth={"peers_file": peers}) as service:
        port = service.app.port
        caller = await over_tls(port, authority.ca, known)
        assert (caller.tenant, caller.user_id, list(caller.roles)) == ("smith", "importer", [pb.CALLER_ROLE_OPERATOR])
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await over_tls(port, authority.ca, unknown)
        assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED
        peers.write_text("")
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await over_tls(port, authority.ca, known)
        assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED


async def over_tls(port: int, ca: Path, client: tuple[Path, Path]) -> pb.GetCallerResponse:
    root, certificate, key = await asyncio.to_thread(lambda: [file.read_bytes() for file in (ca, *client)])
    credentials = grpc.ssl_channel_credentials(root, key, certificate)
    async with grpc.aio.secure_channel(f"localhost:{port}", credentials) as channel:
        found: pb.GetCallerResponse = (await answers(channel, GET_CALLER, request_of(GET_CALLER)))[0]
        return found
