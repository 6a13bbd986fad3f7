"""The Go client and a service that asks for credentials, over TLS."""

import asyncio
from pathlib import Path

import pytest

from tests.support.code_blocks import code_blocks
from tests.support.go_smoke import BUILD_LIMIT_S, ROOT, GoModule, Smoke, run_go
from tests.support.keyed_service import keyed_service
from tests.support.tls_files import TlsAuthority

pytestmark = pytest.mark.timeout(BUILD_LIMIT_S + 30)  # a first build, with nothing in Go's cache


async def test_a_key_goes_over_tls_and_names_the_user(
    go_module: GoModule, tmp_path: Path, models_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with keyed_service(tmp_path, models_dir) as service:
        smoke = Smoke(go_module.program, service.port)

        async def caller(token: str, ca: Path, *arguments: str) -> dict[str, object]:
            monkeypatch.setenv("PROVISO_TOKEN", token)
            [line] = await smoke.lines("-ca", str(ca), "caller", *arguments)
            return {name: line.get(name) for name in ("user_id", "code")}

        ca = service.authority.ca
        assert await caller(service.ada, ca) == {"user_id": "ada", "code": None}
        assert await caller(service.gateway, ca, "-user", "carol") == {"user_id": "carol", "code": None}
        assert await caller(service.ada, ca, "-user", "carol") == {"user_id": None, "code": "PermissionDenied"}
        assert await caller("pvk_old", ca) == {"user_id": None, "code": "Unauthenticated"}
        assert await caller(service.ada, TlsAuthority(tmp_path, "other").ca) == {"user_id": None, "code": "Unavailable"}


async def test_the_program_of_the_readme_shows_a_certificate_and_the_token_of_the_moment(
    go_module: GoModule, tmp_path: Path, models_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, program = code_blocks(ROOT / "clients" / "go" / "README.md", "go")
    async with keyed_service(tmp_path, models_dir, mutual=True) as service:
        certificate, key = service.authority.client("spiffe://example/gateway")
        certificate.rename(tmp_path / "client.pem")
        key.rename(tmp_path / "client.key")
        monkeypatch.setenv("PROVISO_TOKEN", service.gateway)
        go_module.write("credentials/main.go", program.replace("legal.example:443", service.target))
        built = tmp_path / "credentials"
        await asyncio.to_thread(go_module.run, "go", "build", "-o", str(built), "./credentials")
        assert await asyncio.to_thread(run_go, tmp_path, str(built)) == "ada\n"
