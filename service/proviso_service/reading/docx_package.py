"""Opens the ZIP package of a Word document: which parts it has, and their bytes within a budget.

Only parts that hold text or say how it is numbered are ever inflated, in small blocks, and what comes out is counted.
So neither the sizes that the archive declares nor members that nothing refers to can do harm."""

import io
import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

from proviso_service.reading.model import FileTooLong, UnreadableFile

MAX_INFLATED_BYTES = 256 * 1024 * 1024
"""The budget for all parts that are read, together."""
MAX_MEMBERS = 10_000

_BLOCK_BYTES = 64 * 1024
_MEMBER_SIGNATURE = b"PK\x01\x02"
_ENCRYPTED_FLAG = 0x1
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)

_DAMAGED = "The Word document is damaged or incomplete. Open it in Word, save it again and upload the new file."
_PROTECTED = "The document is protected by a password. Remove the password in Word, save it and upload it again."


def damaged() -> UnreadableFile:
    """Returns the error for a document whose package or XML cannot be read."""
    return UnreadableFile(_DAMAGED)


@dataclass(slots=True)
class PackagePart:
    """The bytes of one part, a block at a time: a readable file object that spends the package's budget."""

    _file: IO[bytes]
    _package: "Package"

    def read(self, size: int = -1) -> bytes:
        """Returns at most one block. Raises UnreadableFile for damaged data, and once the budget is spent."""
        with _reasons():
            block = self._file.read(_BLOCK_BYTES if size < 0 else min(size, _BLOCK_BYTES))
        self._package.spend(len(block))
        return block


class Package:
    """The members of the archive. Raises UnreadableFile for bytes that are no readable package."""

    def __init__(self, content: bytes) -> None:
        # The archive's directory is read as a whole, so its length is checked first.
        if content.count(_MEMBER_SIGNATURE) > MAX_MEMBERS:
            raise FileTooLong(
                f"The file is an archive of more than {MAX_MEMBERS:,} parts, not an ordinary Word document."
            )
        with _reasons():
            self._archive = zipfile.ZipFile(io.BytesIO(content))
        # The names of two parts never differ by case alone.
        self._members = {info.filename.lower(): info for info in self._archive.infolist()}
        self._left_bytes = MAX_INFLATED_BYTES

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._members

    @contextmanager
    def open(self, name: str) -> Iterator[PackagePart]:
        """Opens the part of that name, which must exist. Raises UnreadableFile."""
        info = self._members[name.lower()]
        if info.flag_bits & _ENCRYPTED_FLAG:
            raise UnreadableFile(_PROTECTED)
        if info.compress_type not in _METHODS:
            raise damaged()
        if info.file_size > self._left_bytes:
            raise _too_large()
        with _reasons():
            file = self._archive.open(info)
        with file:
            yield PackagePart(file, self)

    def spend(self, size_bytes: int) -> None:
        """Takes bytes off the budget. Raises UnreadableFile once it is spent."""
        self._left_bytes -= size_bytes
        if self._left_bytes < 0:
            raise _too_large()


def resolve(base: str, target: str) -> str:
    """Returns the name of the part that a relationship of the part `base` points to."""
    return posixpath.normpath(posixpath.join("/", posixpath.dirname(base), target)).lstrip("/")


def _too_large() -> FileTooLong:
    return FileTooLong(
        f"The document unpacks to more than {MAX_INFLATED_BYTES // 2**20} MB of text and markup. "
        "Split it and upload the parts."
    )


@contextmanager
def _reasons() -> Iterator[None]:
    """Turns what the archive's reader raises, for bytes that are cut off or were tampered with, into UnreadableFile."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OverflowError, ValueError, OSError) as error:
        raise damaged() from error
