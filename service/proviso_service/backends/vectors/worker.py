"""`python -m proviso_service.backends.vectors.worker <folder>`: the process that owns one Chroma database.

It reads frames from stdin and answers them on stdout until stdin is closed, which the system does when the service
dies. Two threads read and one writes, so that a search need not wait for the writes before it; writes keep their order.
"""

import fcntl
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Condition, Lock, Thread
from typing import BinaryIO, NoReturn

from proviso_service.backends.vectors.frames import LENGTHS, Header, frame, lengths, read_header
from proviso_service.backends.vectors.worker_database import WorkerAnswer, WorkerDatabase, describe, spare_the_package


def raise_open_file_limit() -> int:
    """Raises the soft limit to the hard one where the system allows it; returns the limit in force."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == hard:
        return soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError):  # some systems have a lower limit that they do not report
        return soft
    return hard


READERS = 2
LOCK_FILE = "worker.lock"
LOCK_WAIT_S = 15
"""Seconds that this process waits for the process of a killed service to end, before it gives up."""

SILENCE_S = 60
"""The system ends the process when no Python code has run for so many seconds. Native code that never releases the
interpreter lock would otherwise outlive the service, because nothing would notice that stdin is closed."""

WRITE_WAIT_S = 0.1
"""Longest wait of a write for the reads under way, in seconds. A read needs the interpreter lock several times, and
would wait for one write each time."""

LAST_CALLS_S = 10
BEATS = 6

Call = Callable[[Header, memoryview], WorkerAnswer]


class Worker:
    """Reads calls, carries them out in its threads and writes the answers."""

    def __init__(self, database: WorkerDatabase, answers: BinaryIO) -> None:
        self._reading = ThreadPoolExecutor(READERS)
        self._writing = ThreadPoolExecutor(1)
        self._reads = database.reads
        self._writes = database.writes
        self._reads_under_way = 0
        self._changed = Condition()
        self._answers = answers
        self._answering = Lock()

    def serve(self, calls: BinaryIO) -> None:
        """Serves calls until the stream ends."""
        while received := _receive(calls):
            header, payload = received
            name = header["call"]
            if name in self._writes:
                self._writing.submit(self._write, self._writes[name], header, payload)
            else:
                self._count_reads(1)
                self._reading.submit(self._read, self._reads[name], header, payload)

    def close(self) -> None:
        """Waits for the calls that have begun; those that have not are dropped."""
        for threads in (self._reading, self._writing):
            threads.shutdown(cancel_futures=True)

    def answer(self, header: Header, payload: bytes | memoryview = b"") -> None:
        with self._answering:
            self._answers.write(frame(header, payload))
            self._answers.flush()

    def _read(self, call: Call, header: Header, payload: memoryview) -> None:
        try:
            self._make(call, header, payload)
        finally:
            self._count_reads(-1)

    def _write(self, call: Call, header: Header, payload: memoryview) -> None:
        with self._changed:
            self._changed.wait_for(lambda: not self._reads_under_way, WRITE_WAIT_S)
        self._make(call, header, payload)

    def _count_reads(self, step: int) -> None:
        with self._changed:
            self._reads_under_way += step
            self._changed.notify()

    def _make(self, call: Call, header: Header, payload: memoryview) -> None:
        try:
            result, vectors = call(header, payload)
        except BaseException as error:  # a panic in native code is no Exception
            result, vectors = {"error": describe(error)}, b""
        try:
            self.answer(result | {"id": header["id"]}, vectors)
        except OSError:  # nobody reads any more; the end of stdin ends the process
            return


def main(folder: Path) -> None:
    # Whatever native code prints on stdout goes to stderr: it must not get between the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    raise_open_file_limit()
    spare_the_package()
    with (folder / LOCK_FILE).open("wb") as lock:
        _lock(lock)
        Thread(target=_beat, daemon=True).start()
        try:
            worker = Worker(WorkerDatabase(str(folder)), answers)
        except BaseException as error:  # as above
            answers.write(frame({"id": 0, "error": describe(error)}))
            answers.flush()
            return
        worker.answer({"id": 0})
        worker.serve(sys.stdin.buffer)
        signal.alarm(LAST_CALLS_S)
        worker.close()


def _receive(calls: BinaryIO) -> tuple[Header, memoryview] | None:
    """The next frame; None when the stream has ended, be it in the middle of a frame."""
    start = calls.read(LENGTHS.size)
    if len(start) < LENGTHS.size:
        return None
    header_bytes, payload_bytes = lengths(start)
    header, payload = calls.read(header_bytes), calls.read(payload_bytes)
    if len(header) < header_bytes or len(payload) < payload_bytes:
        return None
    return read_header(header), memoryview(payload)


def _lock(lock: BinaryIO) -> None:
    """Locks the database, which two processes would damage. Raises TimeoutError when another process keeps it."""
    signal.signal(signal.SIGALRM, _give_up)
    signal.alarm(LOCK_WAIT_S)
    fcntl.flock(lock, fcntl.LOCK_EX)
    signal.alarm(0)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)


def _give_up(number: int, stack: object) -> NoReturn:
    raise TimeoutError("another process keeps the database")


def _beat() -> None:
    while True:
        signal.alarm(SILENCE_S)
        time.sleep(SILENCE_S / BEATS)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
