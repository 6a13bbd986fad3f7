"""The supervisor: it takes one request after the other, and starts, watches and ends a child for each."""

import gc
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from select import select
from typing import NoReturn

from proviso_service.reading.model import UnreadableFile
from proviso_service.reading.worker import messages
from proviso_service.reading.worker.child import Read, run_child
from proviso_service.reading.worker.messages import (
    BrokenStream,
    ChildEnding,
    ChildOutcome,
    ReadRequest,
    frame,
    write_all,
)

Prepare = Callable[[str], object]
"""Imports what reading a media type needs: a child finds it already loaded, and could not load it itself."""

_MAXRSS_BYTES = 1 if sys.platform == "darwin" else 1024


class ServiceGone(Exception):
    """The service has ended, or wants this process to end."""


def supervise(requests: int, answers: int, read: Read, prepare: Prepare, idle_s: float) -> None:
    """Serves requests from one descriptor and writes to the other, until the service closes them, sends SIGTERM, or
    asks for nothing for `idle_s` seconds."""
    signal.signal(signal.SIGTERM, _leave)
    with suppress(ServiceGone, BrokenStream, BrokenPipeError):
        while select([requests], [], [], idle_s)[0]:
            request = _next_request(requests)
            with suppress(UnreadableFile):
                prepare(request.media_type)
            # What is loaded now is never collected, so the children share its memory with this process.
            gc.freeze()
            ending = _run(request, read, requests, answers)
            write_all(answers, frame(messages.ENDING, ending.encode()))


def _leave(number: int, stack: object) -> NoReturn:
    raise ServiceGone


def _next_request(requests: int) -> ReadRequest:
    kind, size = messages.HEADER.unpack(messages.read_exactly(requests, messages.HEADER.size))
    if kind != messages.REQUEST or size > messages.MAX_PAYLOAD_BYTES:
        raise BrokenStream
    return ReadRequest.decode(messages.read_exactly(requests, size))


def _run(request: ReadRequest, read: Read, requests: int, answers: int) -> ChildEnding:
    """Runs a child for one request, from its start to its end, whatever happens in between."""
    content, to_child = os.pipe()
    from_child, answer = os.pipe()
    child = os.fork()
    if child == 0:
        run_child(request, read, content, answer)
    try:
        os.close(content)
        os.close(answer)
        _pass_content(requests, to_child, request.content_bytes)
        os.close(to_child)
        outcome = _pass_answer(request, requests, from_child, answers)
    finally:
        status, peak_bytes = _end(child)
        os.close(from_child)
    return _ending(outcome, status, peak_bytes > request.limits.memory_bytes / 2)


def _pass_content(requests: int, to_child: int, size: int) -> None:
    """Passes the file on in pieces. Nothing of it stays in this process, from which later children are forked."""
    for piece in messages.pieces_of(requests, size):
        # The end of a child shows in its answer. The rest of the file still has to be taken from the service.
        with suppress(BrokenPipeError):
            write_all(to_child, piece)


def _pass_answer(request: ReadRequest, requests: int, from_child: int, answers: int) -> ChildOutcome:
    """Passes on what the child writes until it closes its end, its time is up, or it has written too much."""
    deadline = time.monotonic() + request.limits.time_limit_s
    written = 0
    while (left := deadline - time.monotonic()) > 0:
        ready, _, _ = select([requests, from_child], [], [], left)
        if requests in ready:
            raise ServiceGone
        if from_child in ready:
            piece = os.read(from_child, messages.MAX_PAYLOAD_BYTES)
            if not piece:
                return ChildOutcome.EXITED
            written += len(piece)
            if written > request.answer_bytes:
                return ChildOutcome.TOO_LARGE
            write_all(answers, frame(messages.DATA, piece))
    return ChildOutcome.OUT_OF_TIME


def _end(child: int) -> tuple[int, int]:
    """Kills a child with everything that it has started, if it has not ended. Returns its exit status, negative for a
    signal, and its peak memory in bytes. The id of a child that has ended stays valid until its status is taken
    here."""
    for kill in (os.killpg, os.kill):
        with suppress(ProcessLookupError, PermissionError):
            kill(child, signal.SIGKILL)
    _, status, usage = os.wait4(child, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_maxrss * _MAXRSS_BYTES


def _ending(outcome: ChildOutcome, status: int, used_much: bool) -> ChildEnding:
    """Returns how the child ended, also where a signal from elsewhere ended it: its processor time is up, the machine
    has no memory left, or the parser crashed, which in C can also mean that it ran out of memory."""
    if outcome is not ChildOutcome.EXITED or status == 0:
        return ChildEnding(outcome, status)
    if status == -signal.SIGXCPU:
        return ChildEnding(ChildOutcome.OUT_OF_TIME, status)
    if status == -signal.SIGKILL or used_much:
        return ChildEnding(ChildOutcome.OUT_OF_MEMORY, status)
    return ChildEnding(ChildOutcome.CRASHED, status)
