"""A shell that a reader of the page would have."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

_TIME_LIMIT_S = 180
_STRICT = "set -uE -o pipefail; trap 'status=$?; printf %s\\\\n $status >> failed' ERR"


class CommandFailed(Exception):
    """A command cannot be run, or ends with a status that no refused call has."""


class Shell:
    """Runs commands one after the other; variables and functions of one are there for the next."""

    def __init__(self, process: asyncio.subprocess.Process, folder: Path) -> None:
        self._process = process
        self._folder = folder

    async def run(self, command: str) -> str:
        """What a command prints. Of the error stream that is what is there when a call is refused; else progress goes
        there. Raises CommandFailed."""
        command_file, out, err, failed = (self._folder / name for name in ("command", "out", "err", "failed"))
        command_file.write_text(command + "\n", encoding="utf-8")
        failed.write_text("", encoding="utf-8")
        if not await self._ran():
            raise CommandFailed(f"the shell has ended: {err.read_text(encoding='utf-8').strip()}")
        statuses = {int(status) for status in failed.read_text(encoding="utf-8").split()}
        printed, complaint = out.read_text(encoding="utf-8"), err.read_text(encoding="utf-8")
        if not all(_of_refused_call(status) for status in statuses):
            raise CommandFailed(f"status {', '.join(map(str, statuses))}: {complaint.strip()}")
        return _trimmed(printed + complaint if statuses else printed)

    async def _ran(self) -> bool:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(b'eval "$(<command)" > out 2> err < /dev/null; echo done\n')
        async with asyncio.timeout(_TIME_LIMIT_S):
            return await self._process.stdout.readline() == b"done\n"


@asynccontextmanager
async def shell(folder: Path, environment: Mapping[str, str]) -> AsyncIterator[Shell]:
    """A shell in a folder. What it has started is ended with it."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        "bash", "--norc", cwd=folder, env=environment, stdin=pipe, stdout=pipe, start_new_session=True
    )
    try:
        opened = Shell(process, folder)
        await opened.run(_STRICT)
        yield opened
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def _of_refused_call(status: int) -> bool:
    """grpcurl ends with 64 and the call's status code, buf with eight times that."""
    return 64 < status <= 80 or (status % 8 == 0 and 0 < status <= 128)


def _trimmed(output: str) -> str:
    return "\n".join(line.rstrip() for line in output.strip("\n").splitlines())
