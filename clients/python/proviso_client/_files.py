"""This module reads the bytes of an upload from a path, a bytes object or an open file."""

import hashlib
import io
import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from proviso_client.v1.matters_pb2 import UploadDocumentRequest, UploadHeader

PIECE_BYTES = 256 * 1024

Source = str | os.PathLike[str] | bytes | BinaryIO
"""An upload can come from a path, from bytes, or from a file that is open for reading bytes."""

Progress = Callable[[int, int | None], object]
"""Is called with the number of bytes sent so far and the total number of bytes, or None when the total is unknown."""


@dataclass(frozen=True, slots=True)
class UploadSource:
    """Holds the source of an upload and what the service is told before the bytes are sent.

    `repeatable` says whether `open` can be called more than once."""

    filename: str
    total_bytes: int | None
    sha256: str
    open: Callable[[], AbstractContextManager[BinaryIO]]
    repeatable: bool

    def header(self, matter_id: str) -> UploadDocumentRequest:
        header = UploadHeader(matter_id=matter_id, filename=self.filename, sha256=self.sha256)
        return UploadDocumentRequest(header=header)


def upload_source(source: Source, filename: str) -> UploadSource:
    """Returns the source of an upload. A file that is given by its path is read once to compute its checksum.

    The service compares the checksum, and refuses a file that changed during the upload. An open file is uploaded from
    its current position and has no checksum. Raises OSError when the file cannot be read, and ValueError when no file
    name is known."""
    if isinstance(source, bytes):
        digest = hashlib.sha256(source).hexdigest()
        return UploadSource(_named(filename), len(source), digest, lambda: io.BytesIO(source), repeatable=True)
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            size = file.tell()
        return UploadSource(filename or path.name, size, digest, lambda: path.open("rb"), repeatable=True)
    own_name = getattr(source, "name", "")
    name = filename or (Path(own_name).name if isinstance(own_name, str) else "")
    return UploadSource(_named(name), None, "", lambda: nullcontext(source), repeatable=False)


def _named(filename: str) -> str:
    if not filename:
        raise ValueError("give a filename: the service tells the format of a document by its extension")
    return filename
