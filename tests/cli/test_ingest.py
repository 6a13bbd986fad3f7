import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.scripted_server import Finished, ScriptedServer

Proviso = Callable[..., Finished]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    papers = tmp_path / "papers"
    papers.mkdir()
    for number in range(9):
        (papers / f"{number}.md").write_text(f"# Paper {number}\n")
    (papers / "photo.png").write_bytes(b"PNG")
    return papers


def ingest(proviso: Proviso, server: ScriptedServer, path: Path, *more: str) -> Finished:
    return proviso("ingest", str(path), "--matter", "M", "--address", server.address, *more)


def results(ended: Finished) -> dict[str, int]:
    summary: dict[str, int] = json.loads(ended.out.splitlines()[-1])["summary"]
    return summary


def test_folder_is_uploaded_and_followed_until_ready(proviso: Proviso, server: ScriptedServer, folder: Path) -> None:
    ended = ingest(proviso, server, folder)
    assert ended.exit_code == 0
    assert len(server.matters.documents) == 9
    assert [matter.name for matter in server.matters.matters] == ["M"]
    assert "photo.png" in ended.out
    assert "\x1b" not in ended.out + ended.err


def test_second_run_changes_nothing(proviso: Proviso, server: ScriptedServer, folder: Path) -> None:
    ingest(proviso, server, folder)
    ended = ingest(proviso, server, folder, "--json")
    assert ended.exit_code == 0
    assert results(ended) == {"ready": 0, "failed": 0, "unchanged": 9, "skipped": 1}
    assert len(server.matters.matters) == 1


def test_one_failed_document_fails_the_job_and_no_other(proviso: Proviso, server: ScriptedServer, folder: Path) -> None:
    (folder / "bad.md").write_text("unreadable")
    ended = ingest(proviso, server, folder)
    assert ended.exit_code == 1
    assert f"{folder}/bad.md: It is not text" in ended.out
    ended = ingest(proviso, server, folder, "--json")
    assert results(ended) == {"ready": 0, "failed": 1, "unchanged": 9, "skipped": 1}


def test_json_has_a_line_for_each_file(proviso: Proviso, server: ScriptedServer, folder: Path) -> None:
    ended = ingest(proviso, server, folder, "--json")
    records = [json.loads(line) for line in ended.out.splitlines()[:-2]]
    assert sorted(Path(record["path"]).name for record in records) == [f"{number}.md" for number in range(9)]
    assert {(record["result"], record["chunks"]) for record in records} == {("ready", 2)}


def test_files_of_the_same_bytes_are_settled_together(proviso: Proviso, server: ScriptedServer, folder: Path) -> None:
    (folder / "copy.md").write_bytes((folder / "0.md").read_bytes())
    ended = ingest(proviso, server, folder, "--json")
    assert sum(results(ended)[name] for name in ("ready", "unchanged")) == 10
    assert len(server.matters.documents) == 9


def test_a_file_that_is_refused_is_named_with_the_reason(
    proviso: Proviso, server: ScriptedServer, folder: Path
) -> None:
    server.matters.data_to_refuse = b"# Paper 3\n"
    ended = ingest(proviso, server, folder)
    assert ended.exit_code == 1
    assert f"{folder}/3.md: The file is empty." in ended.out


def test_cut_uploads_are_sent_again(proviso: Proviso, server: ScriptedServer, folder: Path) -> None:
    server.matters.uploads_to_refuse = 3
    assert results(ingest(proviso, server, folder, "--json"))["ready"] == 9


def test_server_that_reports_nothing_does_not_hang_the_job(
    proviso: Proviso, server: ScriptedServer, folder: Path
) -> None:
    server.matters.silent = True
    ended = ingest(proviso, server, folder, "--json")
    assert ended.exit_code == 1
    assert results(ended)["failed"] == 9


def test_nothing_to_ingest_is_said(proviso: Proviso, server: ScriptedServer, tmp_path: Path) -> None:
    (tmp_path / "photo.png").write_bytes(b"PNG")
    ended = ingest(proviso, server, tmp_path / "photo.png")
    assert ended.exit_code == 1
    assert "Nothing to ingest" in ended.err


def test_a_matter_for_each_folder(proviso: Proviso, server: ScriptedServer, tmp_path: Path) -> None:
    cases = tmp_path / "cases"
    for name in ("Smith", "Jones/annexes"):
        (cases / name).mkdir(parents=True)
        (cases / name / "a.md").write_text(name)
    (cases / "loose.md").write_text("In no folder")
    ended = proviso("ingest", str(cases), "--matter-per-folder", "--address", server.address, "--json")
    assert ended.exit_code == 0
    assert sorted(matter.name for matter in server.matters.matters) == ["Jones", "Smith"]
    assert len({document.matter_id for document in server.matters.documents}) == 2
    *_, jones, smith, total = (json.loads(line) for line in ended.out.splitlines())
    assert (jones["matter"], jones["summary"]["ready"]) == ("Jones", 1)
    assert (smith["matter"], smith["summary"]["ready"]) == ("Smith", 1)
    assert total == {
        "matters": 2,
        "stopped": False,
        "summary": {"ready": 2, "failed": 0, "unchanged": 0, "skipped": 1},
    }


def test_a_matter_that_cannot_be_made_fails_its_own_files_only(
    proviso: Proviso, server: ScriptedServer, tmp_path: Path
) -> None:
    for name in ("refused", "taken"):
        (tmp_path / "cases" / name).mkdir(parents=True)
        (tmp_path / "cases" / name / "a.md").write_text(name)
    server.matters.names_to_refuse.add("refused")
    ended = proviso("ingest", str(tmp_path / "cases"), "--matter-per-folder", "--address", server.address)
    assert ended.exit_code == 1
    assert "a.md: This name is refused" in ended.out
    assert [matter.name for matter in server.matters.matters] == ["taken"]


@pytest.mark.parametrize("more", [(), ("--matter", "M", "--matter-per-folder")])
def test_one_way_of_naming_matters_must_be_given(proviso: Proviso, folder: Path, more: tuple[str, ...]) -> None:
    ended = proviso("ingest", str(folder), *more)
    assert ended.exit_code == 2
    assert "either --matter NAME or --matter-per-folder" in ended.err


def test_blank_matter_name_is_a_usage_error(proviso: Proviso, folder: Path) -> None:
    assert proviso("ingest", str(folder), "--matter", " ").exit_code == 2


def test_ctrl_c_stops_cleanly_and_keeps_what_is_uploaded(server: ScriptedServer, folder: Path) -> None:
    server.matters.may_report.clear()
    command = [sys.executable, "-m", "proviso_service.cli", "ingest", str(folder), "--matter", "M"]
    command += ["--address", server.address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert server.matters.watched.wait(20)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    server.matters.may_report.set()
    assert process.returncode == 130
    assert ["M", "0", "0", "0"] in [line.split() for line in out.splitlines()]
    stopped = "Stopped with 9 files to go. What is uploaded stays; run the same command again to go on."
    assert err.splitlines()[-1] == stopped
    assert "Traceback" not in err
    assert server.matters.documents
