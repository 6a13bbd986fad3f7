"""Credentials of the Python client, against the real service with TLS and API keys, with either client."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from proviso_client import AccessToken, AsyncClient, Client, RetryPolicy, TlsCredentials
from proviso_client._credentials import TokenCache, bearer
from proviso_client.errors import (
    DeadlineExceeded,
    FailedPrecondition,
    NotFound,
    PermissionDenied,
    Unauthenticated,
    Unavailable,
)
from proviso_client.v1 import access_pb2, matters_pb2
from tests.support.client_kinds import Connect
from tests.support.keyed_service import KeyedService, keyed_service, made_key
from tests.support.tls_files import TlsAuthority

pytestmark = pytest.mark.asyncio(loop_scope="module")

AT_ONCE = RetryPolicy(max_attempts=1)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def keyed(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> AsyncIterator[KeyedService]:
    async with keyed_service(tmp_path_factory.mktemp("keyed"), models_dir) as service:
        yield service


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def mutual(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> AsyncIterator[KeyedService]:
    async with keyed_service(tmp_path_factory.mktemp("mutual"), models_dir, mutual=True) as service:
        yield service


def tls(service: KeyedService) -> TlsCredentials:
    return TlsCredentials(root_ca=service.authority.ca)


def given_in_turn(*tokens: str | AccessToken) -> tuple[Callable[[], str | AccessToken], list[int]]:
    """A function that gives one token after the other, and the number of its calls."""
    calls: list[int] = []

    def give() -> str | AccessToken:
        calls.append(1)
        return tokens[min(len(calls), len(tokens)) - 1]

    return give, calls


async def test_a_key_over_tls_says_who_calls(connect: Connect, keyed: KeyedService) -> None:
    async with connect(keyed.target, credentials=tls(keyed), token=keyed.ada) as client:
        caller = await client.get_caller()
        with pytest.raises(PermissionDenied):
            await client.get_usage()
    assert (caller.tenant, caller.user_id, caller.authenticated) == ("acme", "ada", True)
    assert not caller.roles


async def test_a_gateway_acts_for_a_user_in_every_call(connect: Connect, keyed: KeyedService) -> None:
    async with connect(keyed.target, credentials=tls(keyed), token=keyed.gateway) as gateway:
        carol = gateway.for_user("carol")
        assert (await carol.get_caller()).user_id == "carol"
        assert list((await gateway.get_caller()).roles) == [access_pb2.CALLER_ROLE_ACT_FOR_USERS]
        matter = await carol.matters.create("Lease")
        assert [one.user_id async for one in carol.matters.members(matter.matter_id)] == ["carol"]
        with pytest.raises(NotFound):
            await gateway.for_user("dan").matters.get(matter.matter_id)


async def test_a_key_without_the_role_acts_for_nobody(connect: Connect, keyed: KeyedService) -> None:
    async with connect(keyed.target, credentials=tls(keyed), token=keyed.ada, user_id="bob") as client:
        with pytest.raises(PermissionDenied, match="act_for_users"):
            await client.get_caller()


async def test_owners_manage_the_members_of_a_matter(connect: Connect, keyed: KeyedService) -> None:
    async with connect(keyed.target, credentials=tls(keyed), token=keyed.ada) as ada:
        matter = await ada.matters.create("Sale")
        assert matter.role == matters_pb2.MATTER_ROLE_OWNER
        member = await ada.matters.grant(matter.matter_id, "bob", "reader")
        assert member.role == matters_pb2.MATTER_ROLE_READER
        assert [one.user_id async for one in ada.matters.members(matter.matter_id, page_size=1)] == ["ada", "bob"]
        async with connect(keyed.target, credentials=tls(keyed), token=keyed.bob) as bob:
            assert (await bob.matters.get(matter.matter_id)).role == matters_pb2.MATTER_ROLE_READER
            with pytest.raises(PermissionDenied, match="owner"):
                await bob.matters.grant(matter.matter_id, "bob", "owner")
            with pytest.raises(PermissionDenied, match="editor"):
                await bob.documents.upload(matter.matter_id, b"# Text", filename="text.md")
            await ada.matters.revoke(matter.matter_id, "bob")
            with pytest.raises(NotFound):
                await bob.matters.get(matter.matter_id)
        with pytest.raises(FailedPrecondition, match="owner"):
            await ada.matters.revoke(matter.matter_id, "ada")


@pytest.mark.parametrize("token", ["", "pvk_nonsense"])
async def test_no_token_and_a_bad_one_are_unauthenticated(connect: Connect, keyed: KeyedService, token: str) -> None:
    async with connect(keyed.target, credentials=tls(keyed), token=token) as client:
        with pytest.raises(Unauthenticated):
            await client.get_caller()
        with pytest.raises(Unauthenticated):
            await client.chat("Hello").result()


async def test_a_refused_token_is_renewed_once_for_each_kind_of_call(connect: Connect, keyed: KeyedService) -> None:
    async with connect(keyed.target, credentials=tls(keyed), token=keyed.ada) as ada:
        matter_id = (await ada.matters.create("Renewal")).matter_id

    def client() -> tuple[AsyncClient, list[int]]:
        give, calls = given_in_turn("pvk_old", keyed.ada)
        return connect(keyed.target, credentials=tls(keyed), token=give), calls

    unary, asked = client()
    async with unary:
        assert (await unary.get_caller()).user_id == "ada"
        assert len(asked) == 2
    deleting, _ = client()
    async with deleting:
        await deleting.matters.delete((await deleting.matters.create("Gone")).matter_id)
    streaming, _ = client()
    async with streaming:
        assert [state async for state in streaming.documents.watch(matter_id)] == []
    uploading, _ = client()
    async with uploading:
        await uploading.documents.upload(matter_id, b"# Text\n\nWords.", filename="text.md")
    chatting, _ = client()
    async with chatting:
        assert (await chatting.chat("Hello").result()).message


async def test_a_token_that_stays_bad_is_asked_for_twice(connect: Connect, keyed: KeyedService) -> None:
    give, calls = given_in_turn("pvk_old")
    async with connect(keyed.target, credentials=tls(keyed), token=give) as client:
        with pytest.raises(Unauthenticated):
            await client.get_caller()
        assert len(calls) == 2
        with pytest.raises(Unauthenticated):
            await client.chat("Hello").result()
        assert len(calls) == 4


async def test_a_token_with_an_end_is_kept_until_it_is_refused(connect: Connect, keyed: KeyedService) -> None:
    first = await made_key(keyed.settings, "ada")
    give, calls = given_in_turn(AccessToken(first, 3_600), AccessToken(keyed.ada, 3_600))
    async with connect(keyed.target, credentials=tls(keyed), token=give) as client:
        for _ in range(3):
            await client.get_caller()
        assert len(calls) == 1
        await keyed.revoke(first)
        await client.get_caller()
        await client.get_caller()
        assert len(calls) == 2


async def test_a_coroutine_function_gives_the_token_within_the_time_of_the_call(keyed: KeyedService) -> None:
    async def give() -> AccessToken:
        return AccessToken(keyed.ada, 60)

    async def never() -> str:
        raise TimeoutError

    async with AsyncClient(keyed.target, credentials=tls(keyed), token=give) as client:
        assert (await client.get_caller()).user_id == "ada"
    async with AsyncClient(keyed.target, credentials=tls(keyed), token=never) as client:
        with pytest.raises(DeadlineExceeded, match="No token"):
            await client.get_caller(timeout_s=0.05)


async def test_a_client_shows_its_certificate(connect: Connect, mutual: KeyedService) -> None:
    certificate, key = mutual.authority.client("spiffe://example/ada")
    shown = TlsCredentials(mutual.authority.ca, certificate.read_bytes(), str(key))
    async with connect(mutual.target, credentials=shown, token=mutual.ada) as client:
        assert (await client.get_caller()).user_id == "ada"
    async with connect(mutual.target, credentials=tls(mutual), token=mutual.ada, retries=AT_ONCE) as client:
        with pytest.raises(Unavailable):
            await client.get_caller()


async def test_a_certificate_of_another_authority_is_not_trusted(
    connect: Connect, keyed: KeyedService, tmp_path: Path
) -> None:
    for credentials in (TlsCredentials(TlsAuthority(tmp_path, "other").ca), TlsCredentials()):
        async with connect(keyed.target, credentials=credentials, token=keyed.ada, retries=AT_ONCE) as client:
            with pytest.raises(Unavailable):
                await client.get_caller()


async def test_a_token_goes_to_another_machine_over_tls_or_by_an_explicit_word(connect: Connect) -> None:
    target = "10.0.0.1:50051"
    for secret in ({"token": "t"}, {"metadata": [("Authorization", "Bearer t")]}):
        with pytest.raises(ValueError, match="could read the token"):
            connect(target, insecure=True, **secret)
        async with connect(target, insecure_token=True, **secret):
            pass
        async with connect(target, credentials=TlsCredentials(), **secret):
            pass


async def test_half_a_client_certificate_is_refused() -> None:
    with pytest.raises(ValueError, match="both"):
        TlsCredentials(certificate=b"")


@pytest.mark.parametrize("user_id", ["Zoë", "a\nb", " ada"])
async def test_a_user_whom_metadata_cannot_name_is_refused(connect: Connect, user_id: str) -> None:
    with pytest.raises(ValueError, match="printable ASCII"):
        connect("localhost:1", user_id=user_id)
    async with connect("localhost:1") as client:
        with pytest.raises(ValueError, match="printable ASCII"):
            client.for_user(user_id)


async def test_no_token_is_in_what_a_traceback_shows() -> None:
    secret = AccessToken("secret", 60)
    with Client("localhost:1", token=secret.text) as client:
        async with AsyncClient("localhost:1", token=secret.text) as async_client:
            shown = [client, client._calls, async_client, async_client._calls, async_client._calls.tokens, secret]
            assert "secret" not in repr(shown)
    assert "hidden" not in repr(TlsCredentials(certificate=b"shown", key=b"hidden"))


async def test_a_token_is_replaced_shortly_before_its_end() -> None:
    now = 0.0
    cache = TokenCache(lambda: now)
    assert (cache.keep(AccessToken("long", 100)), cache.current()) == ("long", "long")
    now = 70.0
    assert cache.current() == ""
    cache.keep(AccessToken("short", 10))
    now = 74.9
    assert cache.current() == "short"
    cache.drop((("authorization", bearer("long")),))
    assert cache.current() == "short"
    cache.drop((("authorization", bearer("short")),))
    assert cache.current() == ""
