"""Each call of docs/grpcurl.md prints, with the real grpcurl and against the real service, what the page says."""

import asyncio
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.support.code_blocks import code_blocks
from tests.support.go_smoke import BUILD_LIMIT_S, ROOT
from tests.support.running import RunningService

PAGE = ROOT / "docs" / "grpcurl.md"
PINS = ROOT / "requirements" / "grpcurl"
INSTALL, *CALLS = code_blocks(PAGE, "sh")
OUTPUTS = code_blocks(PAGE, "(?:json|text)")
BETWEEN = "=== the next call ==="

CHANGES = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"  # an id
    r"|call_[0-9a-f]{24}"
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"  # a time
    r"|(?<=: )-?\d+\.\d+(?:e-?\d+)?"  # a score
)
"""What differs from run to run."""


def test_the_page_has_eight_calls_each_with_what_it_prints() -> None:
    assert len(CALLS) == len(OUTPUTS) == 8
    module, version = INSTALL.strip().removeprefix("go install ").split("/cmd/grpcurl@")
    assert f"{module} {version} " in (PINS / "go.mod").read_text(encoding="utf-8")


@pytest.mark.timeout(BUILD_LIMIT_S)  # a first build of grpcurl, with nothing in Go's cache, takes a minute or more
async def test_every_call_prints_what_the_page_says(service: RunningService) -> None:
    script = f"\necho '{BETWEEN}'\n".join(CALLS).replace("localhost:50051", f"127.0.0.1:{service.app.port}")
    grpcurl = await asyncio.to_thread(run, "go", "tool", "-n", "grpcurl", folder=PINS)
    search_path = os.pathsep.join([str(Path(grpcurl.strip()).parent), os.environ["PATH"]])
    printed = (await asyncio.to_thread(run, "bash", "-c", f"exec 2>&1\n{script}", PATH=search_path)).split(BETWEEN)
    for call, expected, output in zip(CALLS, OUTPUTS, printed, strict=True):
        assert pattern_of(expected).fullmatch(masked(output)), f"{call}\nprints\n{output}"


def run(*command: str, folder: Path = ROOT, **environment: str) -> str:
    """What a command prints."""
    done = subprocess.run(
        command, cwd=folder, env=os.environ | environment, capture_output=True, text=True, timeout=280, check=False
    )
    assert done.stdout, done.stderr
    return done.stdout


def pattern_of(expected: str) -> re.Pattern[str]:
    """A line of `...` stands for any number of lines."""
    lines = masked(expected).splitlines(keepends=True)
    return re.compile("".join(r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line) for line in lines))


def masked(output: str) -> str:
    lines = [line.rstrip() for line in output.strip("\n").splitlines()]
    return CHANGES.sub("<changes>", "\n".join(lines) + "\n")
