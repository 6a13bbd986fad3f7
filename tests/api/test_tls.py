"""TLS of the server: files that are replaced while it runs, clients without a certificate, and plain text."""

import asyncio
import os
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import pytest
from cryptography import x509

from proviso_client.v1 import access_pb2 as pb
from proviso_client.v1.access_pb2_grpc import AccessServiceStub
from proviso_service.api.interceptors.authentication import AccessControl
from proviso_service.api.server import CannotListen, create_server, listen
from proviso_service.api.standard_services import Readiness
from proviso_service.settings import ServerSettings
from tests.api.serving import NO_DOMAIN, served
from tests.support.tls_files import TlsAuthority

TIMEOUT_S = 20


@pytest.fixture
def authority(tmp_path: Path) -> TlsAuthority:
    return TlsAuthority(tmp_path)


@asynccontextmanager
async def serving(authority: TlsAuthority, *, mutual: bool = False) -> AsyncIterator[int]:
    certificate, key = authority.server()
    ca = authority.ca if mutual else None
    settings = ServerSettings(port=0, tls_cert=certificate, tls_key=key, tls_client_ca=ca)
    async with served(NO_DOMAIN, settings) as running:
        yield running.port


def contents(*files: Path) -> list[bytes]:
    return [file.read_bytes() for file in files]


async def asked(port: int, ca: Path, client: tuple[Path, Path] | None = None) -> grpc.StatusCode:
    """The status of a call over a connection of its own."""
    root, *pair = await asyncio.to_thread(contents, ca, *(client or ()))
    credentials = grpc.ssl_channel_credentials(root, *reversed(pair))
    async with grpc.aio.secure_channel(f"localhost:{port}", credentials) as channel:
        return await status_of(channel)


async def status_of(channel: grpc.aio.Channel) -> grpc.StatusCode:
    try:
        await AccessServiceStub(channel).GetCaller(pb.GetCallerRequest(), timeout=TIMEOUT_S)
    except grpc.aio.AioRpcError as error:
        return error.code()
    return grpc.StatusCode.OK


async def serial_of(port: int) -> int:
    """The serial number of the certificate that the server shows now."""
    found = await asyncio.wait_for(asyncio.to_thread(ssl.get_server_certificate, ("127.0.0.1", port)), TIMEOUT_S)
    return x509.load_pem_x509_certificate(found.encode()).serial_number


def put(source: Path, target: Path) -> None:
    os.replace(source, target)  # noqa: PTH105


async def test_a_new_certificate_needs_no_restart(authority: TlsAuthority) -> None:
    async with serving(authority) as port:
        old = await serial_of(port)
        root = grpc.ssl_channel_credentials(authority.ca.read_bytes())
        async with grpc.aio.secure_channel(f"localhost:{port}", root) as kept:
            assert await status_of(kept) is grpc.StatusCode.OK
            certificate, key = authority.server("new")
            put(certificate, certificate.with_stem("server"))
            # The key is not there yet: the old pair stays in use.
            assert await serial_of(port) == old
            put(key, key.with_stem("server"))
            assert await serial_of(port) != old
            assert await status_of(kept) is grpc.StatusCode.OK
        assert await asked(port, authority.ca) is grpc.StatusCode.OK


async def test_files_that_are_damaged_or_away_leave_the_old_pair(authority: TlsAuthority) -> None:
    async with serving(authority) as port:
        old, certificate = await serial_of(port), authority.ca.with_name("server.pem")
        sound = certificate.read_bytes()
        for damaged in (b"", sound[:100], b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"):
            certificate.write_bytes(damaged)
            assert await serial_of(port) == old
        put(certificate, certificate.with_suffix(".away"))
        assert await serial_of(port) == old


async def test_a_client_without_a_certificate_of_the_authority_is_refused(
    authority: TlsAuthority, tmp_path: Path
) -> None:
    strange = TlsAuthority(tmp_path, "strange")
    async with serving(authority, mutual=True) as port:
        good = authority.client("spiffe://example.org/a", "good")
        assert await asked(port, authority.ca, good) is grpc.StatusCode.OK
        assert await asked(port, authority.ca) is grpc.StatusCode.UNAVAILABLE
        for bad in (strange.client("spiffe://example.org/a", "foreign"), authority.server("expired", days=-1)):
            assert await asked(port, authority.ca, bad) is grpc.StatusCode.UNAVAILABLE


async def test_a_client_authority_that_is_replaced_counts_from_the_next_connection(
    authority: TlsAuthority, tmp_path: Path
) -> None:
    new = TlsAuthority(tmp_path, "new-ca")
    root = tmp_path / "root.pem"
    root.write_bytes(authority.ca.read_bytes())
    async with serving(authority, mutual=True) as port:
        old_client = authority.client("spiffe://example.org/a", "old")
        new_client = new.client("spiffe://example.org/a", "new")
        assert await asked(port, root, old_client) is grpc.StatusCode.OK
        put(new.ca, authority.ca)
        assert await asked(port, root, old_client) is grpc.StatusCode.UNAVAILABLE
        assert await asked(port, root, new_client) is grpc.StatusCode.OK


async def test_plain_text_to_the_port_is_not_answered(authority: TlsAuthority) -> None:
    async with serving(authority) as port, grpc.aio.insecure_channel(f"localhost:{port}") as channel:
        assert await status_of(channel) is grpc.StatusCode.UNAVAILABLE


async def refused(settings: ServerSettings, *, is_open: bool = True) -> str:
    server = create_server(settings, await Readiness.starting(), AccessControl())
    with pytest.raises(CannotListen) as caught:
        listen(server, settings, is_open=is_open)
    assert "\n" not in str(caught.value)
    return str(caught.value)


async def test_files_that_are_no_pair_are_refused_in_one_line(authority: TlsAuthority, tmp_path: Path) -> None:
    certificate, key = authority.server()
    _, other = authority.server("other")
    nothing = tmp_path / "nothing.pem"
    for files, told in (
        ({"tls_cert": certificate}, "server.tls_key"),
        ({"tls_key": key}, "server.tls_cert"),
        ({"tls_client_ca": authority.ca}, "server.tls_cert"),
        ({"tls_cert": certificate, "tls_key": other}, "is not the key"),
        ({"tls_cert": key, "tls_key": key}, "no PEM file"),
        ({"tls_cert": certificate, "tls_key": nothing}, "nothing.pem cannot be read"),
        ({"tls_cert": certificate, "tls_key": key, "tls_client_ca": key}, "no PEM file"),
        ({"tls_cert": certificate, "tls_key": key, "tls_client_ca": tmp_path}, "cannot be read"),
    ):
        assert told in await refused(ServerSettings(port=0, **files))


async def test_another_address_needs_tls_and_credentials(authority: TlsAuthority) -> None:
    certificate, key = authority.server()
    everywhere = {"host": "0.0.0.0", "port": 0}  # noqa: S104
    tls = {"tls_cert": certificate, "tls_key": key}
    assert "not be encrypted or authenticated" in await refused(ServerSettings.model_validate(everywhere))
    assert "not be encrypted." in await refused(ServerSettings.model_validate(everywhere), is_open=False)
    assert "not be authenticated." in await refused(ServerSettings.model_validate(everywhere | tls))
    ca = {"tls_client_ca": authority.ca}
    assert "not be authenticated." in await refused(ServerSettings.model_validate(everywhere | tls | ca))
    settings = ServerSettings.model_validate(everywhere | tls)
    server = create_server(settings, await Readiness.starting(), AccessControl())
    assert listen(server, settings, is_open=False)
    await server.stop(None)


async def test_insecure_is_said_loudly(caplog: pytest.LogCaptureFixture) -> None:
    settings = ServerSettings(host="0.0.0.0", port=0, insecure=True)  # noqa: S104
    server = create_server(settings, await Readiness.starting(), AccessControl())
    assert listen(server, settings)
    await server.stop(None)
    (warning,) = [record for record in caplog.records if "INSECURE" in record.getMessage()]
    assert warning.levelname == "WARNING"
