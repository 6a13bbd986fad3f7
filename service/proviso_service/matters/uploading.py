"""The bytes of an upload on their way to the blob store."""

import hashlib
import re
from collections.abc import AsyncIterator

from proviso_service.errors import FieldViolation, InvalidRequest
from proviso_service.matters.filenames import clean_filename
from proviso_service.matters.identifiers import matter_or_documentation
from proviso_service.matters.model import UploadHeader

_SHA256 = re.compile(r"[0-9a-f]{64}")


def checked_header(header: UploadHeader) -> UploadHeader:
    """The header with ids in lower case and a file name without folders. Raises InvalidRequest with every violation."""
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
    """Passes pieces on and counts and hashes them. A rule that is broken raises InvalidRequest out of the iteration, so
    that the blob store, which keeps only what ended well, keeps nothing."""

    def __init__(self, pieces: AsyncIterator[bytes], max_bytes: int, expected_sha256: str = "") -> None:
        self._pieces = pieces
        self._max_bytes = max_bytes
        self._expected_sha256 = expected_sha256
        self._hash = hashlib.sha256()
        self.size = 0

    @property
    def sha256(self) -> str:
        """In hexadecimal, of what has passed."""
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
