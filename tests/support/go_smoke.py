"""The smoke program of the Go client: built as a user of the module would, then run."""

import asyncio
import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
GO_FLAGS = "-buildvcs=false -mod=readonly -p=2"
BUILD_LIMIT_S = 570
RUN_LIMIT_S = 240

Line = dict[str, Any]
"""What the program prints: an `event`, then a `final` or a `failure`."""


class GoModule:
    """A copy of clients/go with its program."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "go"
        self.program = folder / "smoke"

    def build(self) -> None:
        shutil.copytree(ROOT / "clients" / "go", self.folder, dirs_exist_ok=True)
        built = self.folder / "smoke.built"
        self.run("go", "build", "-o", str(built), "./smoke")
        built.rename(self.program)

    def write(self, name: str, source: str) -> None:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(source, encoding="utf-8")

    def run(self, *command: str) -> str:
        """What a command prints, run in the module; an AssertionError with all of it when the command fails."""
        return run_go(self.folder, *command, GOFLAGS=GO_FLAGS)


def run_go(folder: Path, *command: str, **environment: str) -> str:
    """What a command prints, run in a folder; an AssertionError with all of it when the command fails."""
    result = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=BUILD_LIMIT_S,
        check=False,
    )
    assert result.returncode == 0, f"{' '.join(command)}\n{result.stdout}{result.stderr}"
    return result.stdout


def built_module(folder: Path) -> GoModule:
    """Built by the first process of a test run that asks for it, in a folder that they share."""
    module = GoModule(folder)
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if not module.program.exists():
            module.build()
    return module


class Smoke:
    """The program, talking to a port of this machine."""

    def __init__(self, program: Path, port: int) -> None:
        self._command = [str(program), "-address", f"127.0.0.1:{port}"]

    async def lines(self, *arguments: str) -> list[Line]:
        """All that a run prints."""
        async with self.running(*arguments) as printed:
            return [line async for line in printed]

    @asynccontextmanager
    async def running(self, *arguments: str) -> AsyncIterator[AsyncIterator[Line]]:
        """What a run prints, as it comes. The program is killed when it has not ended by the end of the block."""
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*self._command, *arguments, stdout=pipe, stderr=pipe)
        try:
            async with asyncio.timeout(RUN_LIMIT_S):
                yield _printed(process)
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()


async def _printed(process: asyncio.subprocess.Process) -> AsyncIterator[Line]:
    assert process.stdout is not None
    assert process.stderr is not None
    async for line in process.stdout:
        yield json.loads(line)
    complaint = (await process.stderr.read()).decode()
    assert await process.wait() == 0, complaint


def whole_turn(lines: list[Line], round_number: int = 0) -> Line:
    """The last line of a round, after checking that its events cover the turn, each once and in order."""
    mine = [line for line in lines if line["round"] == round_number]
    events = [line for line in mine if line["line"] == "event"]
    following = 1
    for event in events:
        assert event["first"] == following
        following = event["sequence"] + 1
    kinds = [event["kind"] for event in events]
    assert kinds[0] == "turn_start"
    assert kinds.count("final_state") == 1
    assert kinds[-1] == "final_state"
    assert len({event["turn_id"] for event in events}) == 1
    assert mine[-1]["line"] == "final"
    return mine[-1]
