"""A matter as one ZIP archive, which is made while it is sent: no more than some pieces of it are in memory."""

import asyncio
import hashlib
import io
import json
import re
import zipfile
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import PurePosixPath

from proviso_service.errors import DocumentNotFound, KeyDestroyed, OriginalDamaged
from proviso_service.matters.document_text import TextPart, read_part
from proviso_service.matters.model import Document, DocumentStatus, Matter, Member
from proviso_service.matters.originals import original_pieces
from proviso_service.matters.stores import PIECE_BYTES, BlobStore, MatterStore

MAX_NAME_CHARS = 120
_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*]')
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\.|$)")


Conversations = AsyncGenerator[AsyncGenerator[bytes, None], None]
"""The conversations about a matter, each in pieces."""


@dataclass(frozen=True, slots=True)
class MatterToExport:
    """What an archive is made of. A document that is deleted before its turn comes is left out, and named."""

    matter: Matter
    members: tuple[Member, ...]
    documents: tuple[Document, ...]
    conversations: Conversations


async def export_pieces(store: MatterStore, blobs: BlobStore, asked: MatterToExport) -> AsyncGenerator[bytes, None]:
    """Yields the archive in pieces of at most PIECE_BYTES."""
    archive = _Archive()
    async with aclosing(_written(store, blobs, asked, archive)) as steps:
        async for _ in steps:
            for piece in archive.taken():
                yield piece


async def _written(
    store: MatterStore, blobs: BlobStore, asked: MatterToExport, archive: "_Archive"
) -> AsyncGenerator[None, None]:
    """Writes the archive step by step; after each there is something to send."""
    names, left_out = _Names(), []
    rows = {document.document_id: _row(document, names.of(document.filename)) for document in asked.documents}
    for path, content in (
        ("matter.json", _matter_row(asked.matter)),
        ("members.json", [_member_row(member) for member in asked.members]),
        ("documents.json", list(rows.values())),
    ):
        async for _ in archive.add(path, _json_piece(content)):
            yield
    for document in asked.documents:
        name = rows[document.document_id]["name"]
        try:
            pieces = original_pieces(store, blobs, document, 0, document.size_bytes)
            async for _ in archive.add(f"originals/{name}", pieces):
                yield
            if document.status is DocumentStatus.READY:
                async for _ in archive.add(f"texts/{name}.txt", _text_pieces(store, document)):
                    yield
        except (DocumentNotFound, KeyDestroyed, OriginalDamaged) as failure:
            problem = getattr(failure, "problem", "") or (
                "deleted meanwhile" if isinstance(failure, DocumentNotFound) else "its key was destroyed"
            )
            left_out.append({"document_id": document.document_id, "name": name, "problem": problem})
    number = 0
    async with aclosing(asked.conversations) as conversations:
        async for pieces in conversations:
            number += 1
            async for _ in archive.add(f"conversations/{number:05}.json", pieces):
                yield
    manifest = {
        "matter_id": asked.matter.matter_id,
        "export_time": datetime.now(UTC).isoformat(timespec="seconds"),
        "files": archive.files,
        "left_out": left_out,
    }
    async for _ in archive.add("manifest.json", _json_piece(manifest)):
        yield
    await asyncio.to_thread(archive.close)
    yield


class _Sink(io.RawIOBase):
    """A file that cannot be read or sought, of which the content is taken."""

    def __init__(self) -> None:
        super().__init__()
        self.content = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self.content += data
        return len(data)


@dataclass
class _Archive:
    """A ZIP archive that is written into memory, from where it is taken. `files` are those that are whole."""

    files: list[dict[str, object]] = field(default_factory=list)
    _sink: _Sink = field(default_factory=_Sink)
    _zip: zipfile.ZipFile = field(init=False)

    def __post_init__(self) -> None:
        self._zip = zipfile.ZipFile(self._sink, "w", zipfile.ZIP_DEFLATED)

    async def add(self, path: str, pieces: AsyncGenerator[bytes, None]) -> AsyncIterator[None]:
        """Writes a file; the first piece is read before anything is written. Raises what the pieces raise, and then the
        archive has so much of the file as came, which is not among `files`."""
        sha256, size = hashlib.sha256(), 0
        async with aclosing(pieces):
            piece: bytes | None = await anext(pieces, b"")
            with self._zip.open(zipfile.ZipInfo(path), "w", force_zip64=True) as member:
                while piece is not None:
                    sha256.update(piece)
                    size += len(piece)
                    await asyncio.to_thread(member.write, piece)
                    yield
                    piece = await anext(pieces, None)
        self.files.append({"path": path, "sha256": sha256.hexdigest(), "size_bytes": size})
        yield

    def taken(self) -> list[bytes]:
        content = bytes(self._sink.content)
        self._sink.content.clear()
        return [content[start : start + PIECE_BYTES] for start in range(0, len(content), PIECE_BYTES)]

    def close(self) -> None:
        self._zip.close()


class _Names:
    """Makes file names that are safe on every system, and no two the same."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def of(self, filename: str) -> str:
        safe = _UNSAFE.sub("_", filename).strip(" .") or "document"
        if _RESERVED.match(safe):
            safe = f"_{safe}"
        path = PurePosixPath(safe)
        stem, suffix = path.stem[: MAX_NAME_CHARS - len(path.suffix)], path.suffix[:20]
        name, number = f"{stem}{suffix}", 1
        while name.casefold() in self._taken:
            number += 1
            name = f"{stem} ({number}){suffix}"
        self._taken.add(name.casefold())
        return name


async def _text_pieces(store: MatterStore, document: Document) -> AsyncGenerator[bytes, None]:
    start = 0
    while True:
        part = await read_part(store, document, TextPart(start=start))
        yield part.text.encode()
        if not part.truncated or not part.text:
            return
        start += len(part.text)


async def _json_piece(content: object) -> AsyncGenerator[bytes, None]:
    yield json.dumps(content, ensure_ascii=False, indent=1).encode()


def _matter_row(matter: Matter) -> dict[str, object]:
    return {
        "matter_id": matter.matter_id,
        "name": matter.name,
        "notes": matter.notes,
        "create_time": matter.create_time.isoformat(),
        "update_time": matter.update_time and matter.update_time.isoformat(),
    }


def _member_row(member: Member) -> dict[str, object]:
    return {"user_id": member.user, "role": member.role.value, "create_time": member.create_time.isoformat()}


def _row(document: Document, name: str) -> dict[str, object]:
    return {
        "document_id": document.document_id,
        "filename": document.filename,
        "name": name,
        "media_type": document.media_type,
        "size_bytes": document.size_bytes,
        "sha256": document.sha256,
        "status": document.status.value,
        "upload_time": document.upload_time.isoformat(),
    }
