"""Commands that connect to a server which asks for credentials, over TLS."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from proviso_service.cli.connection import check_health, connect, is_listening
from proviso_service.cli.output import CommandError, UsageProblem
from proviso_service.cli.server_options import Server
from tests.cli.test_real_service import proviso as proviso_process
from tests.support.keyed_service import KeyedService, keyed_service
from tests.support.tls_files import TlsAuthority

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def keyed(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> AsyncIterator[KeyedService]:
    async with keyed_service(tmp_path_factory.mktemp("keyed"), models_dir) as service:
        yield service


async def failure(server: Server) -> str:
    """The one line that says why a command failed."""
    with pytest.raises(CommandError) as raised:
        async with connect(server) as connection:
            await connection.client.get_caller()
    assert "\n" not in raised.value.message
    return raised.value.message


async def test_a_command_shows_its_token_over_tls(keyed: KeyedService) -> None:
    server = Server(keyed.target, keyed.ada, tls_ca=keyed.authority.ca)
    async with connect(server) as connection:
        assert (await connection.client.get_caller()).user_id == "ada"
    assert keyed.ada not in repr(server)


async def test_the_options_come_from_flags_and_from_variables(
    keyed: KeyedService, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text("# Lease\n\nThe rent is due in May.\n")
    monkeypatch.setenv("PROVISO_TOKEN", keyed.ada)
    command = ("ingest", "a.md", "--matter", "Lease", "--address", keyed.target)
    given = await proviso_process(*command, "--tls-ca", str(keyed.authority.ca), cwd=tmp_path)
    assert given.exit_code == 0, given.err
    monkeypatch.setenv("PROVISO_TLS_CA", str(keyed.authority.ca))
    health = await proviso_process("health", "--address", keyed.target, cwd=tmp_path)
    assert (health.exit_code, health.out) == (0, "SERVING\n"), health.err


async def test_what_tls_and_credentials_lack_is_told_in_one_line(keyed: KeyedService, tmp_path: Path) -> None:
    ca = keyed.authority.ca
    other = TlsAuthority(tmp_path).ca
    assert "set PROVISO_TOKEN" in await failure(Server(keyed.target, tls_ca=ca))
    assert "not valid" in await failure(Server(keyed.target, "pvk_0123456789abcdef_" + "x" * 43, tls_ca=ca))
    assert "not trusted" in await failure(Server(keyed.target, keyed.ada, tls_ca=other))
    assert "not trusted" in await failure(Server(keyed.target, keyed.ada, tls=True))
    assert "may ask for TLS" in await failure(Server(keyed.target, keyed.ada))


async def test_an_expired_certificate_and_one_for_another_name_are_told(models_dir: Path, tmp_path: Path) -> None:
    async with keyed_service(tmp_path, models_dir) as service:
        ca = service.authority.ca
        service.authority.server(days=-1)
        assert "has expired" in await failure(Server(service.target, service.ada, tls_ca=ca))
        assert await is_listening(Server(service.target, service.ada, tls_ca=ca))


async def test_a_server_that_asks_for_certificates_is_told(models_dir: Path, tmp_path: Path) -> None:
    async with keyed_service(tmp_path, models_dir, mutual=True) as service:
        ca = service.authority.ca
        assert "--tls-cert" in await failure(Server(service.target, service.ada, tls_ca=ca))
        certificate, key = service.authority.client("spiffe://example/ada")
        await check_health(Server(service.target, service.ada, tls_ca=ca, tls_cert=certificate, tls_key=key))


@pytest.mark.parametrize(
    ("server", "told"),
    [
        (Server("10.0.0.1:1", "secret"), "not sent to 10.0.0.1:1 without encryption"),
        (Server("localhost:1", tls_ca=Path("absent.pem")), "there is no file absent.pem"),
        (Server("localhost:1", tls_cert=Path("absent.pem")), "go together"),
        (Server("localhost"), "host:port"),
    ],
)
async def test_options_that_cannot_be_used_are_usage_errors(server: Server, told: str) -> None:
    with pytest.raises(UsageProblem, match=told):
        async with connect(server):
            pass
