"""The child of one document: reads it and writes its answer."""

import os
from collections.abc import Callable
from pathlib import Path
from traceback import walk_tb

from proviso_service.errors import UnsupportedDocument
from proviso_service.reading.canonical import ReadingLimits
from proviso_service.reading.model import ReadDocument
from proviso_service.reading.worker.answers import OUT_OF_MEMORY, encode_fault, encode_read, encode_unsupported
from proviso_service.reading.worker.confinement import confine
from proviso_service.reading.worker.frames import frame, read_exactly, write_all
from proviso_service.reading.worker.requests import Request

Read = Callable[[str, bytes, ReadingLimits, int], ReadDocument]
"""As `reading.read_document`."""

_NO_MEMORY = frame(OUT_OF_MEMORY, b"")


def run_child(request: Request, read: Read, content: int, answer: int) -> None:
    """Never returns. `content` and `answer` are descriptors; the file is read to its end before anything looks at
    it."""
    status = 1
    try:
        os.setpgid(0, 0)
        confine(request.memory_bytes, request.time_limit_s, keep=(content, answer))
        _answer(request, read, content, answer)
        status = 0
    finally:
        os._exit(status)


def _answer(request: Request, read: Read, content: int, answer: int) -> None:
    try:
        document = read(
            request.media_type, read_exactly(content, request.content_bytes), request.limits, request.chunk_chars
        )
        for piece in encode_read(document):
            write_all(answer, piece)
    except UnsupportedDocument as refused:
        write_all(answer, encode_unsupported(refused.message))
    except MemoryError:
        write_all(answer, _NO_MEMORY)
    except Exception as fault:
        write_all(answer, encode_fault(_place(fault)))


def _place(fault: Exception) -> str:
    """Where it happened, without what it says: that may quote the document."""
    frames = [(stack.f_code.co_filename, line) for stack, line in walk_tb(fault.__traceback__)]
    places = [f"{Path(filename).name}:{line}" for filename, line in reversed(frames[-6:])]
    return f"{type(fault).__name__} at {' < '.join(places)}"
