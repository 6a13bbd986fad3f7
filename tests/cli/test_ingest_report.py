"""What an ingest shows while it runs."""

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from proviso_service.cli import ingest_report
from proviso_service.cli.discovery import DiscoveredFiles
from proviso_service.cli.ingest import Outcome, Result
from proviso_service.cli.ingest_report import showing_progress


def test_progress_shows_files_rate_and_the_time_that_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = (tmp_path / "a.md", tmp_path / "b.md")
    for path in paths:
        path.write_bytes(b"x" * 1_000)
    shown = StringIO()
    screen = Console(file=shown, force_terminal=True, width=100)
    monkeypatch.setattr(ingest_report, "console", lambda *, stderr: screen)
    with showing_progress(DiscoveredFiles({"M": paths}, ()), as_json=False) as progress:
        progress(250, [])
        progress(1_000, [Outcome(paths[0], Result.READY, size_bytes=1_000)])
    last = shown.getvalue().rsplit("Ingesting", maxsplit=1)[-1]
    assert "1/2 files" in last
    assert "B/s" in last or "bytes/s" in last
    assert "0:00:0" in last
