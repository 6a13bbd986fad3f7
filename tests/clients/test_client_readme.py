"""The README of the Python client: its examples run, one after the other, and print what it says."""

import asyncio
import contextlib
import io
import re
from pathlib import Path

import pytest

from tests.support.running import RunningService

README = Path(__file__).parents[2] / "clients" / "python" / "README.md"
EXAMPLE = re.compile(r"```python\n(.*?)```(?:\n```text\n(.*?)```)?", re.DOTALL)


async def test_the_examples_of_the_readme_print_what_it_says(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    examples = EXAMPLE.findall(README.read_text(encoding="utf-8"))
    assert len(examples) > 9

    def run(code: str) -> str:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code.replace("127.0.0.1:50051", f"127.0.0.1:{service.app.port}"), names)  # noqa: S102
        return printed.getvalue()

    for code, said in examples:
        assert await asyncio.to_thread(run, code) == said, code
