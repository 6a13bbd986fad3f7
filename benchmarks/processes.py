"""Child processes of the benchmark: how they are started, asked and measured. Every child is ended and waited for."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.report import ROOT, resident_bytes

STOP_TIMEOUT_S = 10.0
_SCHEDULED_TIME = 2
MAX_LINE_BYTES = 8 * 1024 * 1024
_LOG_TAIL_CHARS = 2_000


class ProcessFailed(Exception):
    """A child process ended, or did not answer in time. The message holds the end of its log."""


@dataclass(frozen=True, slots=True)
class Child:
    """A running child process, and its CPU time and memory according to the kernel."""

    process: asyncio.subprocess.Process
    log: Path

    @property
    def cpu_s(self) -> float:
        return cpu_s_of(self.process.pid)

    @property
    def resident_bytes(self) -> int:
        return resident_bytes(self.process.pid)

    @property
    def open_files(self) -> int:
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))

    @property
    def ended(self) -> bool:
        return self.process.returncode is not None

    async def line(self, timeout_s: float) -> bytes:
        """The next line that the process prints. Raises ProcessFailed."""
        assert self.process.stdout is not None
        try:
            async with asyncio.timeout(timeout_s):
                line = await self.process.stdout.readline()
        except TimeoutError:
            raise self.failure(f"no answer after {timeout_s:.0f} s") from None
        if not line:
            raise self.failure("it ended")
        return line

    async def ask(self, question: str, timeout_s: float) -> bytes:
        """Writes a line to the process and returns the line that it answers. Raises ProcessFailed."""
        assert self.process.stdin is not None
        self.process.stdin.write(question.encode() + b"\n")
        return await self.line(timeout_s)

    def failure(self, what: str) -> ProcessFailed:
        tail = self.log.read_text(encoding="utf-8", errors="replace")[-_LOG_TAIL_CHARS:]
        return ProcessFailed(f"{self.log.stem}: {what}\n{tail}")


def cpu_s_of(pid: int) -> float:
    """The user and system time of all threads of a process so far, in seconds: /proc counts in steps of 10 ms, of which
    a turn takes less than one. Raises OSError when it has ended."""
    # What clock_getcpuclockid(3) makes of a process's number, which Python does not offer.
    return time.clock_gettime((~pid << 3) | _SCHEDULED_TIME)


@asynccontextmanager
async def running(
    log: Path,
    *arguments: str,
    python: Path = Path(sys.executable),
    folder: Path = ROOT,
    variables: Mapping[str, str] | None = None,
) -> AsyncIterator[Child]:
    """Runs `python -m` with `arguments` in `folder`, with further variables of its environment; its standard error goes
    to `log`. At the end its standard input is closed, and it is killed if it does not exit then."""
    with log.open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            *(str(python), "-m", *arguments),
            cwd=folder,
            env=_environment(log.with_suffix(".toml")) | dict(variables or {}),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            limit=MAX_LINE_BYTES,
        )
    try:
        yield Child(process, log)
    finally:
        await _end(process)


async def _end(process: asyncio.subprocess.Process) -> None:
    assert process.stdin is not None
    process.stdin.close()
    try:
        async with asyncio.timeout(STOP_TIMEOUT_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


def _environment(config: Path) -> dict[str, str]:
    """The environment without the caller's own settings of the service, because its defaults are measured."""
    config.touch()
    inherited = {name: value for name, value in os.environ.items() if not name.upper().startswith("PROVISO_")}
    return inherited | {"PROVISO_CONFIG": str(config)}
