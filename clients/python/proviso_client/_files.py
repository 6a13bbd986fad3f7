"""Where the bytes of an upload come from."""

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
"""A path, the bytes themselves, or a file opened for reading bytes."""

Progress = Callable[[int, int | None], object]
"""Called with the bytes handed over so far and the bytes in all; None where that is unknown."""


@dataclass(frozen=True, slots=True)
class UploadSource:
    """Bytes to be read, with what the service is told ahead of them. `repeatable` is whether `open` can be called
    again."""

    filename: str
    total_bytes: int | None
    sha256: str
    open: Callable[[], AbstractContextManager[BinaryIO]]
    repeatable: bool

    def header(self, matter_id: str) -> UploadDocumentRequest:
        header = UploadHeader(matter_id=matter_id, filename=self.filename, sha256=self.sha256)
        return UploadDocumentRequest(header=header)


def upload_source(source: Source, filename: str) -> UploadSource:
    """Reads a file once to its end, for its checksum: one that changes on its way is refused rather than stored. An
    open file is read from where it stands, unchecked. Raises OSError, and ValueError where no file name is known."""
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
