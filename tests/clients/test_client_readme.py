"""The README of the Python client: its examples run, one after the other, print what it says, and pass a type check."""

import asyncio
import contextlib
import io
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.code_blocks import code_blocks
from tests.support.keyed_service import keyed_service
from tests.support.running import RunningService

CLIENT = Path(__file__).parents[2] / "clients" / "python"
README = CLIENT / "README.md"
EXAMPLE = re.compile(r"```python\n(.*?)```(?:\n```text\n(.*?)```)?", re.DOTALL)


async def test_the_examples_of_the_readme_print_what_it_says(
    service: RunningService, tmp_path: Path, models_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with keyed_service(tmp_path, models_dir, name="keyed", mutual=True) as remote:
        certificate, key = remote.authority.client("spiffe://example/gateway")
        certificate.rename("client.pem")
        key.rename("client.key")
        monkeypatch.setenv("PROVISO_TOKEN", remote.gateway)
        targets = {"127.0.0.1:50051": f"127.0.0.1:{service.app.port}", "legal.example:443": remote.target}
        await _run_examples(targets)


async def _run_examples(targets: Mapping[str, str]) -> None:
    names: dict[str, object] = {}
    examples = EXAMPLE.findall(README.read_text(encoding="utf-8"))
    assert len(examples) > 9

    def run(code: str) -> str:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(re.sub("|".join(targets), lambda found: targets[found[0]], code), names)  # noqa: S102
        return printed.getvalue()

    for code, said in examples:
        assert await asyncio.to_thread(run, code) == said, code


def test_the_examples_of_the_readme_pass_a_strict_type_check(tmp_path: Path) -> None:
    program = tmp_path / "examples.py"
    program.write_text("\n".join(code_blocks(README, "python")), encoding="utf-8")
    check = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(program)]
    done = subprocess.run(
        check, cwd=tmp_path, env=os.environ | {"MYPYPATH": str(CLIENT)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
