import functools
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from proviso_service.cli import connection
from tests.cli.scripted_server import Finished, ScriptedServer, run_command, scripted_server
from tests.support.process_logging import process_logging

__all__ = ["process_logging"]


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings but those of the test, and nothing written into the checkout."""
    import os

    for name in list(os.environ):
        if name.startswith("PROVISO_") or name in {"GOOGLE_API_KEY", "FORCE_COLOR"}:
            monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "RETRIES", replace(connection.RETRIES, first_wait_s=0.001, longest_wait_s=0.001))


@pytest.fixture
def proviso(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Finished]:
    """Runs the command line in this process."""
    return functools.partial(run_command, capsys, monkeypatch)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server() as running:
        yield running
