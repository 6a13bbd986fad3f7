"""Checks what callers send: ids, file names, and the bytes of an upload on their way to the blob store."""

import hashlib
import re
import unicodedata
from collections.abc import AsyncIterator, Sequence
from uuid import UUID

from proviso_service.errors import FieldViolation, InvalidRequest
from proviso_service.matters.model import DOCUMENTATION, UploadHeader

MAX_FILENAME_CHARS = 255

# Line separators and the marks that reverse the reading direction make one name look like another.
_DECEPTIVE = frozenset("\u2028\u2029\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_FOLDERS = re.compile(r"^.*[/\\]", re.DOTALL)


def clean_filename(field: str, value: str) -> str:
    """Returns the name without folders, in Unicode NFC. Raises InvalidRequest when nothing is left, it is too long, or
    it holds characters that cannot be shown faithfully."""
    if any(unicodedata.category(char) in ("Cc", "Cs") or char in _DECEPTIVE for char in value):
        raise InvalidRequest.of(field, "must not contain control characters")
    name = unicodedata.normalize("NFC", _FOLDERS.sub("", value)).strip()
    if name in ("", ".", ".."):
        raise InvalidRequest.of(field, "must be the name of a file")
    if len(name) > MAX_FILENAME_CHARS:
        raise InvalidRequest.of(field, f"must have at most {MAX_FILENAME_CHARS} characters")
    return name


_SHA256 = re.compile(r"[0-9a-f]{64}")


def checked_header(header: UploadHeader) -> UploadHeader:
    """Returns the header with ids in lower case and a file name without folders. Raises InvalidRequest with every
    violation."""
    violations: list[FieldViolation] = []
    matter_id = filename = ""
    try:
        matter_id = matter_or_documentation("header.matter_id", header.matter_id)
    except InvalidRequest as invalid:
        violations += invalid.violations
    try:
        filename = clean_filename("header.filename", header.filename)
    except InvalidRequest as invalid:
        violations += invalid.violations
    if header.sha256 and not _SHA256.fullmatch(header.sha256.lower()):
        violations.append(FieldViolation("header.sha256", "must be 64 hexadecimal digits"))
    if violations:
        raise InvalidRequest(violations)
    return UploadHeader(matter_id, filename, header.sha256.lower())


class CheckedBytes:
    """Passes pieces on, and counts and hashes them. A rule that is broken raises InvalidRequest out of the iteration,
    so that the blob store, which keeps only what ended well, keeps nothing."""

    def __init__(self, pieces: AsyncIterator[bytes], max_bytes: int, expected_sha256: str = "") -> None:
        self._pieces = pieces
        self._max_bytes = max_bytes
        self._expected_sha256 = expected_sha256
        self._hash = hashlib.sha256()
        self.size = 0

    @property
    def sha256(self) -> str:
        """The hash, in hexadecimal, of what has passed so far."""
        return self._hash.hexdigest()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._pieces:
            self.size += len(piece)
            if self.size > self._max_bytes:
                raise InvalidRequest.of("data", f"is larger than {self._max_bytes:,} bytes, the most that is taken")
            self._hash.update(piece)
            yield piece
        if self.size == 0:
            raise InvalidRequest.of("data", "is empty")
        if self._expected_sha256 and self.sha256 != self._expected_sha256:
            raise InvalidRequest.of("header.sha256", f"does not match the bytes received, which have {self.sha256}")


_UUID_LENGTH = 36


def is_uuid(value: str) -> bool:
    """Tells whether the value is a UUID in its usual form: 36 characters, four of them hyphens."""
    if len(value) != _UUID_LENGTH:
        return False
    try:
        return str(UUID(value)) == value.lower()
    except ValueError:
        return False


def uuid_of(field: str, value: str) -> str:
    """Returns the UUID in lower case. Raises InvalidRequest when it is malformed."""
    if not is_uuid(value):
        raise InvalidRequest.of(field, "must be a UUID")
    return value.lower()


def matter_or_documentation(field: str, value: str) -> str:
    """Returns a matter's UUID in lower case, or DOCUMENTATION. Raises InvalidRequest when the value is neither."""
    return value if value == DOCUMENTATION else uuid_of(field, value)


def uuids_of(field: str, values: Sequence[str]) -> tuple[str, ...]:
    """Returns the UUIDs in lower case, each once, in order. Raises InvalidRequest that names every malformed one."""
    violations = [
        FieldViolation(f"{field}[{index}]", "must be a UUID")
        for index, value in enumerate(values)
        if not is_uuid(value)
    ]
    if violations:
        raise InvalidRequest(violations)
    return tuple(dict.fromkeys(value.lower() for value in values))
