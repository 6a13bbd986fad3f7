"""`proviso ingest --documentation`: what is taken, what is kept, what is replaced."""

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proviso_client.v1 import matters_pb2
from proviso_service.cli.discovery import discover_documentation
from proviso_service.cli.ingest import replaced
from proviso_service.cli.output import UsageProblem
from tests.cli.scripted_server import Finished
from tests.support.running import RunningService


async def ingest(service: RunningService, folder: Path) -> tuple[int, dict[str, int]]:
    """Exit code and summary of one run over a folder."""
    command = [sys.executable, "-m", "proviso_service.cli", "ingest", "--documentation", str(folder), "--json"]
    command += ["--address", f"127.0.0.1:{service.app.port}"]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    out, _ = await asyncio.wait_for(process.communicate(), 60)
    summary: dict[str, Any] = json.loads(out.decode().splitlines()[-1])
    return process.returncode or 0, summary["summary"]


async def documents(service: RunningService) -> dict[str, matters_pb2.Document]:
    listed = await service.matters.ListDocuments(matters_pb2.ListDocumentsRequest(matter_id="documentation"))
    return {document.filename: document for document in listed.documents}


async def test_a_changed_file_replaces_the_earlier_one_and_others_are_kept(
    service: RunningService, tmp_path: Path
) -> None:
    folder = tmp_path / "house"
    folder.mkdir()
    (folder / "leave.md").write_text("# Leave\n\nEveryone has thirty days of annual leave.\n")
    (folder / "travel.md").write_text("# Travel\n\nFlights are booked by the office.\n")
    assert await ingest(service, folder) == (0, {"ready": 2, "failed": 0, "unchanged": 0, "skipped": 0})
    before = await documents(service)
    assert await ingest(service, folder) == (0, {"ready": 0, "failed": 0, "unchanged": 2, "skipped": 0})
    assert await documents(service) == before

    (folder / "leave.md").write_text("# Leave\n\nEveryone has forty days of annual leave.\n")
    assert await ingest(service, folder) == (0, {"ready": 1, "failed": 0, "unchanged": 1, "skipped": 0})
    after = await documents(service)
    assert after["travel.md"] == before["travel.md"]
    assert after["leave.md"].document_id != before["leave.md"].document_id
    listed = await service.matters.ListMatters(matters_pb2.ListMattersRequest())
    assert list(listed.matters) == []


async def test_a_changed_file_that_cannot_be_read_replaces_nothing(service: RunningService, tmp_path: Path) -> None:
    file = tmp_path / "leave.md"
    file.write_text("# Leave\n\nEveryone has thirty days of annual leave.\n")
    assert (await ingest(service, file))[0] == 0
    file.write_bytes(bytes(range(256)))
    assert await ingest(service, file) == (1, {"ready": 0, "failed": 1, "unchanged": 0, "skipped": 0})
    listed = await service.matters.ListDocuments(matters_pb2.ListDocumentsRequest(matter_id="documentation"))
    assert [one.status for one in listed.documents] == [
        matters_pb2.DOCUMENT_STATUS_READY,
        matters_pb2.DOCUMENT_STATUS_FAILED,
    ]


def document(document_id: str, filename: str = "leave.md") -> matters_pb2.Document:
    return matters_pb2.Document(document_id=document_id, filename=filename)


@pytest.mark.parametrize(
    ("uploaded", "searchable", "gone"),
    [
        (["1", "2"], {"2"}, ["1"]),
        (["1", "2", "3"], {"3"}, ["2", "1"]),  # what an earlier run left behind
        (["1", "2"], {"1"}, []),  # the later one is another ingest's
        (["1", "2"], set(), []),  # the new one has failed
        (["1"], {"1"}, []),
        (["1", "2"], {"far beyond the list"}, []),
    ],
)
def test_what_came_before_a_searchable_document_of_its_name_is_replaced(
    uploaded: list[str], searchable: set[str], gone: list[str]
) -> None:
    assert [one.document_id for one in replaced([document(one) for one in uploaded], searchable)] == gone


def test_names_are_compared_without_case_and_others_are_left_alone() -> None:
    listed = [document("1", "Leave.md"), document("2", "travel.md"), document("3", "leave.MD")]
    assert [one.document_id for one in replaced(listed, {"3"})] == ["1"]


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    for folder, name in (("a", "index.md"), ("b", "INDEX.md")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(folder)
    with pytest.raises(UsageProblem, match="have the same name"):
        discover_documentation([tmp_path])


@pytest.mark.parametrize("more", [("--matter", "M"), ("--matter-per-folder",)])
def test_it_goes_to_a_matter_or_to_the_documentation(
    proviso: Callable[..., Finished], tmp_path: Path, more: tuple[str, ...]
) -> None:
    ended = proviso("ingest", str(tmp_path), "--documentation", *more)
    assert ended.exit_code == 2
    assert "either --matter NAME or --matter-per-folder or --documentation" in ended.err
