"""The child of one document: it gives up its rights, reads the document and writes its answer."""

import os
from collections.abc import Callable
from pathlib import Path
from traceback import walk_tb

from proviso_service.reading.model import ReadDocument, ReadingLimits, UnreadableFile
from proviso_service.reading.worker.answers import OUT_OF_MEMORY, encode_fault, encode_read, encode_unsupported
from proviso_service.reading.worker.confinement import confine
from proviso_service.reading.worker.messages import ReadRequest, frame, read_exactly, write_all

Read = Callable[[str, bytes, ReadingLimits], ReadDocument]
"""The function that reads a file, such as `formats.read_document`."""

_NO_MEMORY = frame(OUT_OF_MEMORY, b"")


def run_child(request: ReadRequest, read: Read, content: int, answer: int) -> None:
    """Reads one document, answers, and ends the process; it never returns. `content` and `answer` are descriptors. The
    file is read to its end before anything looks at it."""
    status = 1
    try:
        os.setpgid(0, 0)
        confine(request.limits.memory_bytes, request.limits.time_limit_s, keep=(content, answer))
        _answer(request, read, content, answer)
        status = 0
    finally:
        os._exit(status)


def _answer(request: ReadRequest, read: Read, content: int, answer: int) -> None:
    try:
        document = read(request.media_type, read_exactly(content, request.content_bytes), request.limits)
        for piece in encode_read(document):
            write_all(answer, piece)
    except UnreadableFile as refused:
        write_all(answer, encode_unsupported(refused))
    except MemoryError:
        write_all(answer, _NO_MEMORY)
    except Exception as fault:
        write_all(answer, encode_fault(_place(fault)))


def _place(fault: Exception) -> str:
    """Returns where an exception was raised, without its message, which may quote the document."""
    frames = [(stack.f_code.co_filename, line) for stack, line in walk_tb(fault.__traceback__)]
    places = [f"{Path(filename).name}:{line}" for filename, line in reversed(frames[-6:])]
    return f"{type(fault).__name__} at {' < '.join(places)}"
