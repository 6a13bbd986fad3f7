"""Tests of the process that owns the vector index's database: its start, its end and its failures."""

import asyncio
import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from proviso_service.backends.vectors import process as worker_processes
from proviso_service.backends.vectors.chroma import ChromaIndex, VectorLayout
from proviso_service.backends.vectors.frames import MAX_BYTES, BadFrame, frame, lengths, read_header
from proviso_service.backends.vectors.process import WORKER, WorkerProcess
from proviso_service.backends.vectors.worker import LOCK_FILE
from proviso_service.errors import TooBusy
from proviso_service.matters.indexes import IndexFailed
from proviso_service.matters.stores import VectorRecord
from tests.support.processes import ended

LAYOUT = VectorLayout(4, 4, "test-model")
VECTOR = np.array([1, 0, 0, 0], dtype=np.float32)
COUNT = {"call": "count"}

OWNER = """
import asyncio, sys
from pathlib import Path
from proviso_service.backends.vectors.process import WORKER, WorkerProcess
from proviso_service.backends.vectors.worker import LOCK_FILE

async def own():
    worker = await WorkerProcess.start(Path(sys.argv[1]), 30)
    print(worker.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(own())
"""


IMPATIENT = f"""
import sys
from pathlib import Path
import {WORKER} as worker

worker.LOCK_WAIT_S = 1
worker.main(Path(sys.argv[1]))
"""


async def test_it_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    owner = await asyncio.create_subprocess_exec(
        sys.executable, "-c", OWNER, str(tmp_path), stdout=asyncio.subprocess.PIPE
    )
    assert owner.stdout is not None
    pid = int(await owner.stdout.readline())
    owner.kill()
    await owner.wait()
    await ended({pid})
    # The next one gets the folder.
    index = await ChromaIndex.open(tmp_path, LAYOUT)
    assert await index.count() == 0
    await index.close()


async def test_a_folder_has_one_process_at_a_time(tmp_path: Path) -> None:
    first = await WorkerProcess.start(tmp_path, 30)
    starting = asyncio.create_task(WorkerProcess.start(tmp_path, 30))
    answer = await first.call(COUNT, time_limit_s=30)
    assert answer.header["count"] == 0
    assert not starting.done()
    await first.close()
    await (await starting).close()


def test_a_process_that_waits_for_a_folder_gives_up(tmp_path: Path) -> None:
    with (tmp_path / LOCK_FILE).open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        command = [sys.executable, "-c", IMPATIENT, str(tmp_path)]
        waiting = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert waiting.returncode == 1
    assert "TimeoutError: another process keeps the database" in waiting.stderr


async def test_it_does_not_get_the_signals_of_the_terminal(tmp_path: Path) -> None:
    worker = await WorkerProcess.start(tmp_path, 30)
    assert os.getsid(worker.pid) == worker.pid
    await worker.close()
    await ended({worker.pid})


async def test_it_raises_its_limit_of_open_files(tmp_path: Path) -> None:
    worker = await WorkerProcess.start(tmp_path, 30)
    limits = Path(f"/proc/{worker.pid}/limits").read_text().splitlines()  # noqa: ASYNC240
    (soft, hard), *_ = [line.split()[3:5] for line in limits if line.startswith("Max open files")]
    assert soft == hard
    await worker.close()


async def test_calls_fail_with_the_reason_when_it_dies(tmp_path: Path) -> None:
    worker = await WorkerProcess.start(tmp_path, 30)
    os.kill(worker.pid, signal.SIGSTOP)
    calls = [asyncio.create_task(worker.call(COUNT, time_limit_s=30)) for _ in range(3)]
    await asyncio.sleep(0)
    os.kill(worker.pid, signal.SIGKILL)
    for outcome in await asyncio.gather(*calls, return_exceptions=True):
        assert str(outcome) == "its process was ended by signal 9"
    with pytest.raises(IndexFailed, match="signal 9"):
        await worker.call(COUNT, time_limit_s=30)
    await worker.close()


async def test_calls_are_bounded_and_keep_their_place_until_they_are_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_processes, "MAX_CALLS", 2)
    worker = await WorkerProcess.start(tmp_path, 30)
    os.kill(worker.pid, signal.SIGSTOP)
    with pytest.raises(IndexFailed, match=r"within 0\.01 s"):
        await worker.call(COUNT, time_limit_s=0.01)
    cancelled = asyncio.create_task(worker.call(COUNT, time_limit_s=30))
    await asyncio.sleep(0)
    cancelled.cancel()
    with pytest.raises(TooBusy):
        await worker.call(COUNT, time_limit_s=30)
    os.kill(worker.pid, signal.SIGCONT)
    await asyncio.wait(worker._waiting.values())
    answer = await worker.call(COUNT, time_limit_s=30)
    assert answer.header["count"] == 0
    await worker.close()


async def test_searches_overtake_writes(tmp_path: Path) -> None:
    index = await ChromaIndex.open(tmp_path, LAYOUT)
    records = [VectorRecord(f"d:{row}", "m", "d", VECTOR) for row in range(2_000)]
    await index.upsert("t", records[:1])
    writing = asyncio.create_task(index.upsert("t", records))
    for _ in range(5):
        assert await index.search("t", "m", VECTOR, 1)
        assert not writing.done()
    await writing
    await index.close()


async def test_opening_has_a_time_limit(tmp_path: Path) -> None:
    with pytest.raises(IndexFailed, match="did not answer"):
        await WorkerProcess.start(tmp_path, 0.001)


def test_the_service_does_not_load_chroma() -> None:
    code = "import sys, proviso_service.wiring; print([name for name in sys.modules if name.startswith('chroma')])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert shown.stdout.strip() == "[]"


def test_frames_say_their_lengths_and_nonsense_is_told() -> None:
    sent = frame({"id": 1}, b"vector")
    header, payload = lengths(sent[:8])
    assert read_header(sent[8 : 8 + header]) == {"id": 1}
    assert sent[8 + header :] == b"vector"
    assert payload == 6
    with pytest.raises(BadFrame):
        lengths((MAX_BYTES + 1).to_bytes(4, "little") * 2)
    for nonsense in (b"[]", b"{", b"\xff"):
        with pytest.raises(BadFrame):
            read_header(nonsense)
