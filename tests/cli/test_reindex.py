"""`proviso reindex`, with a server and without."""

import json
from collections.abc import Callable
from pathlib import Path

from proviso_client.v1 import tools_pb2
from tests.cli.scripted_server import Finished
from tests.cli.test_real_service import proviso as run
from tests.support.running import AGREEMENT, running_service

Proviso = Callable[..., Finished]
NOBODY = ("--address", "127.0.0.1:1")


async def test_a_running_server_rebuilds_and_without_one_the_command_does(tmp_path: Path, models_dir: Path) -> None:
    data = tmp_path / "data"
    async with running_service(data, models_dir) as service:
        matter_id = await service.create_matter(agreement=AGREEMENT)
        at = ("--address", f"127.0.0.1:{service.app.port}")
        told = await run("reindex", "--json", *at, cwd=tmp_path)
        assert (told.exit_code, told.err) == (0, "")
        *progress, summary = [json.loads(line) for line in told.out.splitlines()]
        assert progress[-1] == {"vectors_done": summary["rebuilt"], "vectors_total": summary["rebuilt"]}
        assert summary["rebuilt"] > 0
        in_use = await run("reindex", *NOBODY, "--data-dir", str(data), cwd=tmp_path)
        assert in_use.exit_code == 1
        assert "is in use by process" in in_use.err
        assert "--address" in in_use.err

    shown = await run("reindex", *NOBODY, "--data-dir", str(data), cwd=tmp_path)
    assert shown.exit_code == 0
    assert f"{summary['rebuilt']} passages" in shown.out
    exported = await run("audit", "export", "--data-dir", str(data), cwd=tmp_path)
    rebuilt = [event for event in map(json.loads, exported.out.splitlines()) if event["action"] == "rebuild"]
    assert [event["method"] for event in rebuilt] == ["proviso reindex", "MaintenanceService/RebuildIndex"]
    async with running_service(data, models_dir) as service:
        answer = await service.tools.Search(tools_pb2.SearchRequest(matter_id=matter_id, query="monthly fees"))
        assert "USD 12,000" in answer.results[0].chunk_text


def test_without_a_server_and_without_data_there_is_nothing_to_index(proviso: Proviso) -> None:
    ended = proviso("reindex", *NOBODY)
    assert (ended.exit_code, ended.out) == (1, "")
    assert ended.err == "proviso: There is no server to ask, and nothing to index in .proviso\n"
    assert not Path(".proviso").exists()


def test_a_state_that_is_no_database_is_one_line(proviso: Proviso, tmp_path: Path) -> None:
    (tmp_path / "state.sqlite3").write_text("This is a letter.\n" * 100)
    ended = proviso("reindex", *NOBODY, "--data-dir", str(tmp_path))
    assert (ended.exit_code, ended.out) == (2, "")
    file = tmp_path / "state.sqlite3"
    assert ended.err == f"proviso: The state {file} is damaged: file is not a database; restore it from a backup\n"


def test_a_malformed_address_is_a_usage_error(proviso: Proviso) -> None:
    ended = proviso("reindex", "--address", "here")
    assert ended.exit_code == 2
    assert "host:port" in ended.err


async def test_a_running_server_embeds_again_what_its_model_has_not(tmp_path: Path, models_dir: Path) -> None:
    async with running_service(tmp_path / "data", models_dir) as service:
        await service.create_matter(agreement=AGREEMENT)
        at = ("--address", f"127.0.0.1:{service.app.port}")
        told = await run("reembed", "--forget-others", *at, cwd=tmp_path)
        assert (told.exit_code, told.out[:35]) == (0, "All is embedded by the model in use")
    away = await run("reembed", *NOBODY, cwd=tmp_path)
    assert (away.exit_code, away.out) == (1, "")
