"""Keys and certificates are rotated, expire and are revoked while turns and calls run: none is refused or accepted
wrongly."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import grpc
import pytest

from tests.support.access_world import Metadata, answers, callers, method_named, request_of
from tests.support.running import running_service
from tests.support.scripted_model import Step
from tests.support.tls_files import TlsAuthority
from tests.support.token_issuer import Issuer, key_set_of, public_jwk

ROUNDS = int(os.environ.get("CHAOS_ROUNDS", "1"))
CALLS = 40 * ROUNDS
"""Calls of each of the clients; every fifth is a turn."""

SCRIPT = [Step(["Which", " one?"])] * CALLS * 3
GET_CALLER, INVOKE = method_named("GetCaller"), method_named("Invoke")
Call = Callable[[int], Awaitable[str]]
"""Makes the call of a number, and says how it ended."""

pytestmark = pytest.mark.timeout(300)


async def told(channel: grpc.aio.Channel, number: int, metadata: Metadata = ()) -> str:
    """How a call ended: OK, or its status."""
    is_turn = number % 5 == 0
    method = INVOKE if is_turn else GET_CALLER
    try:
        await answers(channel, method, request_of(method, **({"message": "Hi"} if is_turn else {})), metadata)
    except grpc.aio.AioRpcError as error:
        return error.code().name
    return "OK"


async def client(call: Call, calls: int = CALLS, begun: asyncio.Barrier | None = None) -> set[str]:
    """The ways in which the calls of a client ended. It waits at `begun` once it is at work."""
    ends = set()
    for number in range(calls):
        ends.add(await call(number))
        if number == 2 and begun is not None:
            await begun.wait()
    return ends


def put(content: bytes, target: Path) -> None:
    """As an operator should: at once."""
    target.with_suffix(".new").write_bytes(content)
    target.with_suffix(".new").replace(target)


async def test_keys_are_rotated_under_load(tmp_path: Path, models_dir: Path) -> None:
    async with callers(tmp_path, models_dir, *SCRIPT) as world:
        new, keys, begun = Issuer(), tmp_path / "keys.json", asyncio.Barrier(5)
        old_key = public_jwk(world.issuer.keys["EdDSA"], "EdDSA", "EdDSA")
        new_key = public_jwk(new.keys["ES256"], "ES256", "new")

        def with_token(token: str) -> Call:
            metadata = (("authorization", f"Bearer {token}"),)
            return lambda number: told(world.service.channel, number, metadata)

        old_token, new_token = world.token("smith", "ada"), new.token("ES256", {"kid": "new"})
        forged = [new.token("EdDSA"), new.token("ES256", {"kid": "EdDSA"})]
        assert await with_token(new_token)(1) == "UNAUTHENTICATED"
        async with asyncio.TaskGroup() as group:
            olds = [group.create_task(client(with_token(old_token), begun=begun)) for _ in range(2)]
            forgeries = [group.create_task(client(with_token(token), begun=begun)) for token in forged]
            await begun.wait()
            put(key_set_of(old_key, new_key), keys)
            news = [group.create_task(client(with_token(new_token), 2 * CALLS)) for _ in range(2)]
            ends = [await task for task in olds]
            # The old key is withdrawn; a token of an unknown one has the set read again.
            put(key_set_of(new_key), keys)
            assert await with_token(new.token("ES256", {"kid": "newest"}))(1) == "UNAUTHENTICATED"
            assert {await with_token(old_token)(number) for number in range(6)} == {"UNAUTHENTICATED"}
        assert [*ends, *(task.result() for task in news)] == [{"OK"}] * 4
        assert [task.result() for task in forgeries] == [{"UNAUTHENTICATED"}] * 2


@asynccontextmanager
async def connected(port: int, ca: Path, client: tuple[Path, Path]) -> AsyncIterator[grpc.aio.Channel]:
    root, certificate, key = await asyncio.to_thread(lambda: [file.read_bytes() for file in (ca, *client)])
    options = (("grpc.use_local_subchannel_pool", 1),)
    credentials = grpc.ssl_channel_credentials(root, key, certificate)
    async with grpc.aio.secure_channel(f"localhost:{port}", credentials, options=options) as channel:
        yield channel


async def test_certificates_are_swapped_expire_and_are_revoked_under_load(tmp_path: Path, models_dir: Path) -> None:
    authority, begun, peers = TlsAuthority(tmp_path), asyncio.Barrier(5), tmp_path / "peers.toml"
    certificate, key = authority.server()
    row = '["spiffe://example.org/{0}"]\ntenant = "smith"\nuser = "{0}"\n'
    peers.write_text(row.format("stays") + row.format("leaves"))
    stays, leaves = (authority.client(f"spiffe://example.org/{name}", name) for name in ("stays", "leaves"))
    refused = {
        "expired": authority.server("expired", days=-1),
        "foreign": TlsAuthority(tmp_path, "strange").client("spiffe://example.org/stays", "foreign"),
    }
    server = {"tls_cert": certificate, "tls_key": key, "tls_client_ca": authority.ca}
    auth = {"peers_file": peers}
    async with running_service(tmp_path / "data", models_dir, *SCRIPT, server=server, auth=auth) as service:
        port = service.app.port

        async def anew(client: tuple[Path, Path], number: int) -> str:
            async with connected(port, authority.ca, client) as channel:
                return await told(channel, number)

        async with (
            connected(port, authority.ca, stays) as kept,
            connected(port, authority.ca, leaves) as revoked,
            asyncio.TaskGroup() as group,
        ):
            good = [
                group.create_task(client(partial(told, kept), begun=begun)),
                group.create_task(client(partial(anew, stays), begun=begun)),
            ]
            bad = [group.create_task(client(partial(anew, pair), CALLS // 4, begun)) for pair in refused.values()]
            await begun.wait()
            for number in range(4):
                new_certificate, new_key = authority.server(f"new-{number}")
                put(new_certificate.read_bytes(), certificate)
                assert await anew(stays, 1) == "OK"  # the key is not there yet: the old pair serves
                put(new_key.read_bytes(), key)
                assert await anew(stays, 1) == "OK"
            assert await told(revoked, 1) == "OK"
            put(row.format("stays").encode(), peers)
            assert {await told(revoked, number) for number in range(6)} == {"UNAUTHENTICATED"}
            assert await anew(leaves, 1) == "UNAUTHENTICATED"
        assert [task.result() for task in good] == [{"OK"}] * 2
        assert [task.result() for task in bad] == [{"UNAVAILABLE"}] * 2
