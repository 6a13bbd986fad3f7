"""What keeps the service from starting is one clear line, and nothing is left running (exit code 2 of `serve`)."""

import asyncio
import os
import socket
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from proviso_service.embedded import MiniLmEncoder
from proviso_service.models import Vectors
from proviso_service.settings import Settings
from proviso_service.wiring import App
from proviso_service.wiring_resources import StartupError
from tests.support.catalogs import write
from tests.support.running import running_service


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        yield taken.getsockname()[1]


def settings(tmp_path: Path, models_dir: Path, **changes: Any) -> Settings:
    values = {"data_dir": tmp_path / "data", "models_dir": models_dir, "server": {"port": 0}}
    return Settings.model_validate(values | changes)


async def refusal(wrong: Settings) -> str:
    with pytest.raises(StartupError) as caught:
        await App.start(wrong)
    assert "\n" not in str(caught.value)
    return str(caught.value)


async def test_a_port_in_use(tmp_path: Path, models_dir: Path, taken_port: int) -> None:
    wrong = settings(tmp_path, models_dir, server={"port": taken_port})
    assert f"127.0.0.1:{taken_port}" in await refusal(wrong)
    assert not (tmp_path / "data").exists()


async def test_an_address_that_others_reach(tmp_path: Path, models_dir: Path) -> None:
    wrong = settings(tmp_path, models_dir, server={"host": "0.0.0.0", "port": 0})  # noqa: S104
    assert "--insecure" in await refusal(wrong)
    assert not (tmp_path / "data").exists()


async def test_a_data_folder_that_is_a_file(tmp_path: Path, models_dir: Path) -> None:
    (tmp_path / "data").write_text("not a folder")
    assert str(tmp_path / "data") in await refusal(settings(tmp_path, models_dir))


async def test_a_data_folder_that_another_process_owns(tmp_path: Path, models_dir: Path) -> None:
    async with running_service(tmp_path / "data", models_dir):
        assert f"process {os.getpid()}" in await refusal(settings(tmp_path, models_dir))


async def test_nothing_is_embedded_before_it_is_serving(
    tmp_path: Path, models_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder, may_embed = MiniLmEncoder.load(models_dir), threading.Event()
    encode = encoder.encode

    def waiting(batch: Sequence[list[int]]) -> Vectors:
        assert may_embed.wait(60)
        return encode(batch)

    monkeypatch.setattr(encoder, "encode", waiting)
    try:
        async with asyncio.timeout(50):
            app = await App.start(settings(tmp_path, models_dir), encoder=encoder)
    finally:
        may_embed.set()
    await app.stop()


async def test_a_model_that_is_not_prepared(tmp_path: Path) -> None:
    assert "proviso prepare" in await refusal(settings(tmp_path, tmp_path / "nothing"))


@pytest.mark.parametrize(
    ("llm", "told"), [("google_genai:gemini-2.5-flash", "GOOGLE_API_KEY"), ("gpt", "google_genai:<model>")]
)
async def test_a_chat_model_that_cannot_be_used(
    tmp_path: Path, models_dir: Path, monkeypatch: pytest.MonkeyPatch, llm: str, told: str
) -> None:
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    assert told in await refusal(settings(tmp_path, models_dir, llm=llm))
    assert not (tmp_path / "data").exists()


async def test_a_hosted_back_end_without_its_key(tmp_path: Path, models_dir: Path) -> None:
    told = await refusal(settings(tmp_path, models_dir, models={"classifier": "isaacus"}))
    assert told == "PROVISO_MODELS__CLASSIFIER=isaacus needs a key: set ISAACUS_API_KEY"
    assert not (tmp_path / "data").exists()


async def test_a_redis_that_does_not_answer(tmp_path: Path, models_dir: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    told = await refusal(settings(tmp_path, models_dir, storage={"redis_url": f"redis://:password@127.0.0.1:{port}/0"}))
    assert f"127.0.0.1:{port}" in told
    assert "PROVISO_STORAGE__REDIS_URL" in told
    assert "password" not in told


def test_an_address_that_is_not_of_a_redis(tmp_path: Path, models_dir: Path) -> None:
    with pytest.raises(ValidationError, match="must be an address as in redis://"):
        settings(tmp_path, models_dir, storage={"redis_url": "http://127.0.0.1:6379"})


async def test_a_start_that_failed_gives_the_folder_back(tmp_path: Path, models_dir: Path) -> None:
    await refusal(settings(tmp_path, tmp_path / "nothing"))
    async with running_service(tmp_path / "data", models_dir):
        pass


async def test_an_agents_folder_with_faults(tmp_path: Path, models_dir: Path) -> None:
    folder = write(tmp_path / "agent", agent_yaml="name: A\n", rules__a_md="no fields")
    told = await refusal(settings(tmp_path, models_dir, agent_dir=folder))
    assert "agent.yaml:1 description: is missing" in told
    assert "rules/a.md:1" in told


def test_an_agents_folder_may_be_named_by_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVISO_AGENT_DIR", "")
    assert Settings().agent_dir is None
