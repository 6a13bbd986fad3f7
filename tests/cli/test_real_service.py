"""The command line against the whole service, as an operator meets it."""

import asyncio
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from proviso_service.cli.demo import SAMPLES, converse
from proviso_service.cli.doctor import examine
from proviso_service.cli.local_server import running_server
from tests.support.running import RunningService


@dataclass(frozen=True)
class Ended:
    exit_code: int
    out: str
    err: str


async def proviso(*arguments: str, cwd: Path) -> Ended:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "proviso_service.cli", *arguments),
        cwd=cwd,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(), 90)
    return Ended(process.returncode or 0, out.decode(), err.decode())


async def test_ingest_then_chat(service: RunningService, tmp_path: Path) -> None:
    at = ("--address", f"127.0.0.1:{service.app.port}")
    (tmp_path / "lease.md").write_text("# Lease\n\n## 1. Rent\n\nThe rent is EUR 900 a month.\n")
    (tmp_path / "empty.md").write_text("")
    ingested = await proviso("ingest", "lease.md", "empty.md", "--matter", "Lease", "--json", *at, cwd=tmp_path)
    assert ingested.exit_code == 1
    summary = json.loads(ingested.out.splitlines()[-1])["summary"]
    assert summary == {"ready": 1, "failed": 1, "unchanged": 0, "skipped": 0}
    again = await proviso("ingest", "lease.md", "--matter", "Lease", *at, cwd=tmp_path)
    assert again.exit_code == 0
    answered = await proviso("chat", "--matter", "Lease", "--message", "What is the rent?", *at, cwd=tmp_path)
    assert (answered.exit_code, answered.err) == (0, "")
    assert "EUR 900" in answered.out
    assert "[1] lease.md, 1. Rent" in answered.out
    assert "\x1b" not in answered.out


async def test_a_language_that_no_model_reads_is_told(service: RunningService, tmp_path: Path) -> None:
    at = ("--address", f"127.0.0.1:{service.app.port}")
    (tmp_path / "huur.md").write_text("De huur moet door de huurder op de eerste dag van elke maand worden betaald.")
    ingested = await proviso("ingest", "huur.md", "--matter", "Huur", *at, cwd=tmp_path)
    assert ingested.exit_code == 0
    told = " ".join(ingested.out.split())
    assert "To know:" in told
    assert "huur.md is in Dutch, but the models here read English" in told


async def test_the_history_of_a_conversation(service: RunningService, tmp_path: Path) -> None:
    at = ("--address", f"127.0.0.1:{service.app.port}")
    chat = await proviso("chat", "--session", "h-1", "--message", "Hello", *at, cwd=tmp_path)
    assert (chat.exit_code, chat.err) == (0, "")
    text = await proviso("history", "h-1", *at, cwd=tmp_path)
    assert text.out.startswith("User, ")
    assert ", COMPLETED, " in text.out
    exported = await proviso("history", "h-1", "--json", *at, cwd=tmp_path)
    question, answer = map(json.loads, exported.out.splitlines())
    assert question["content"] == "Hello"
    assert answer["turn"]["exit_reason"] == "EXIT_REASON_COMPLETED"
    unknown = await proviso("history", "h-2", *at, cwd=tmp_path)
    assert (unknown.exit_code, unknown.out, unknown.err) == (1, "", "proviso: No session 'h-2'\n")


async def test_demo_runs_to_its_end(service: RunningService, capsys: pytest.CaptureFixture[str]) -> None:
    await converse(f"127.0.0.1:{service.app.port}")
    shown = capsys.readouterr().out
    assert "4 documents mention 'insurance'" in shown
    assert "England and Wales" in shown
    assert "nothing lost, nothing repeated" in shown
    assert "\x1b" not in shown


async def test_server_process_serves_is_seen_by_the_doctor_and_stops_in_order(tmp_path: Path, models_dir: Path) -> None:
    async with running_server(tmp_path, models_dir) as server:
        checks = {finding.subject: finding for finding in await examine(tmp_path / "data", models_dir)}
        assert await server.stop() == 0
    assert "running server, process" in checks["Data folder"].message
    assert "packed for searching" in checks["Search index"].message


def test_samples_are_one_matter_of_at_least_seven_agreements() -> None:
    texts = [path.read_text() for path in SAMPLES.iterdir()]
    assert len(texts) >= 7
    assert all("Northwind Robotics Limited" in text for text in texts)
    assert all(700 <= len(text.split()) <= 2500 for text in texts)
