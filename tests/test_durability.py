"""kill -9 at any moment: every accepted document ends READY or FAILED, once and whole; what is deleted is gone."""

import asyncio
import hashlib
import random
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pytest

from proviso_service.matters.model import Document, DocumentStatus
from tests.support.audit import COMMON_WORD
from tests.support.doomed_service import DoomedService, Killed, doomed_service

ROUNDS = 20
LANES = 2
"""Services that are killed side by side, each in a folder of its own, and that share the rounds."""

UNREADABLE = b"\xff\xff\xff"


@dataclass
class Ledger:
    """What the service has promised, and what it was asked for and may or may not have done."""

    documents: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Accepted: matter and hash by document id."""
    uploads_in_doubt: set[tuple[str, str]] = field(default_factory=set)
    deletions_in_doubt: set[str] = field(default_factory=set)
    matters_in_doubt: set[str] = field(default_factory=set)
    unreadable: set[str] = field(default_factory=set)

    async def upload(self, service: DoomedService, matter_id: str, filename: str, content: bytes) -> None:
        document = (matter_id, hashlib.sha256(content).hexdigest())
        if content.startswith(UNREADABLE):
            self.unreadable.add(document[1])
        self.uploads_in_doubt.add(document)
        document_id = await service.order("upload", matter_id=matter_id, filename=filename, content=content)
        self.documents[document_id] = document
        self.uploads_in_doubt.discard(document)

    async def delete_document(self, service: DoomedService, document_id: str) -> None:
        self.deletions_in_doubt.add(document_id)
        matter_id = self.documents[document_id][0]
        await service.order("delete_document", matter_id=matter_id, document_id=document_id)
        self.documents.pop(document_id)
        self.deletions_in_doubt.discard(document_id)

    async def delete_matter(self, service: DoomedService, matter_id: str) -> None:
        self.matters_in_doubt.add(matter_id)
        await service.order("delete_matter", matter_id=matter_id)
        self.documents = {name: document for name, document in self.documents.items() if document[0] != matter_id}
        self.matters_in_doubt.discard(matter_id)

    def check(self, found: Sequence[Document]) -> None:
        """What there is after a restart must be what was promised; what was in doubt is decided by it."""
        there = {document.document_id: (document.matter_id, document.sha256) for document in found}
        assert len(there) == len(set(there.values())) == len(found), "a document is there twice"
        for document_id, document in self.documents.items():
            if document_id not in self.deletions_in_doubt and document[0] not in self.matters_in_doubt:
                assert there.get(document_id) == document, "an accepted document is lost"
        for document_id in there.keys() - self.documents.keys():
            assert there[document_id] in self.uploads_in_doubt, "a deleted document is back"
        for found_document in found:
            is_readable = found_document.sha256 not in self.unreadable
            expected = DocumentStatus.READY if is_readable else DocumentStatus.FAILED
            assert found_document.status is expected, found_document.failure_reason
        for matter_id in self.matters_in_doubt:
            here = {name for name, document in there.items() if document[0] == matter_id}
            before = {name for name, document in self.documents.items() if document[0] == matter_id}
            assert here in (set(), before - self.deletions_in_doubt, before), "a matter is deleted by half"
        self.documents = there
        self.uploads_in_doubt, self.deletions_in_doubt, self.matters_in_doubt = set(), set(), set()


def text_of(words: random.Random, passages: int) -> bytes:
    """A text of its own, of about so many passages."""
    paragraphs = [
        f"{COMMON_WORD} {number} " + " ".join(f"word{words.randrange(500)}" for _ in range(100))
        for number in range(passages)
    ]
    return "\n\n".join([*paragraphs, f"{COMMON_WORD} {words.random()}\n"]).encode()


class Play(Protocol):
    """What happens to a service until it is killed."""

    __name__: str

    async def __call__(self, service: DoomedService, ledger: Ledger, chance: random.Random) -> None: ...


async def kill_again_and_again(folder: Path, play: Play) -> None:
    async with asyncio.TaskGroup() as lanes:
        for lane in range(LANES):
            mine = folder / str(lane)
            mine.mkdir()
            lanes.create_task(kill_rounds(mine, range(lane, ROUNDS, LANES), play))


async def kill_rounds(folder: Path, rounds: range, play: Play) -> None:
    """Each start checks what the kill before it has left."""
    ledger = Ledger()
    for number in rounds:
        async with doomed_service(folder) as service:
            ledger.check(await service.order("settle"))
            await play(service, ledger, random.Random(f"{play.__name__} {number}"))  # noqa: S311
    async with doomed_service(folder) as service:
        ledger.check(await service.order("settle"))


async def until_killed(*work: Awaitable[object]) -> None:
    for outcome in await asyncio.gather(*work, return_exceptions=True):
        if isinstance(outcome, BaseException) and not isinstance(outcome, Killed):
            raise outcome


async def ingest_until_killed(service: DoomedService, ledger: Ledger, chance: random.Random) -> None:
    """Uploads long, short and unreadable documents; some rounds also send known bytes again. The kill comes when some
    uploads have been answered, when ingestion has come some steps further, or after a while."""
    matter_id = await service.order("create")
    contents = [text_of(chance, chance.choice((1, 3, 20, 60))) for _ in range(5)]
    contents += [UNREADABLE + bytes([chance.randrange(256)]), chance.choice(contents)]
    uploads = [
        asyncio.create_task(ledger.upload(service, matter_id, f"{number}.txt", content))
        for number, content in enumerate(contents)
    ]
    match chance.randrange(3):
        case 0:
            await asyncio.wait(uploads[: chance.randrange(1, len(uploads))])
        case 1:
            await asyncio.wait(uploads)
            service.kill_after(chance.randrange(1, 20))
            await until_killed(service.order("watch", matter_id=matter_id))
        case 2:
            await asyncio.sleep(chance.uniform(0, 0.5))
    await asyncio.sleep(chance.uniform(0, 0.02))
    await service.kill()
    await until_killed(*uploads)


async def delete_until_killed(service: DoomedService, ledger: Ledger, chance: random.Random) -> None:
    """Uploads documents into two matters, and deletes one of the matters there are and some documents of the others; in
    some rounds while they are ingested. The kill comes when some deletions have been answered, or after a while."""
    matter_ids = [await service.order("create"), await service.order("create")]
    contents = [text_of(chance, chance.choice((1, 3, 20, 60))) for _ in range(6)]
    uploads = (
        ledger.upload(service, matter_ids[number % 2], f"{number}.txt", content)
        for number, content in enumerate(contents)
    )
    await asyncio.gather(*uploads)
    if chance.random() < 0.5:
        await asyncio.gather(*(service.order("watch", matter_id=matter_id) for matter_id in matter_ids))
    doomed_matter = chance.choice(sorted({matter_id for matter_id, _ in ledger.documents.values()}))
    others = sorted(name for name, document in ledger.documents.items() if document[0] != doomed_matter)
    deletions = [
        asyncio.create_task(work)
        for work in (
            ledger.delete_matter(service, doomed_matter),
            *(ledger.delete_document(service, name) for name in chance.sample(others, min(3, len(others)))),
        )
    ]
    if chance.random() < 0.5:
        await asyncio.wait(deletions, return_when=asyncio.FIRST_COMPLETED)
    await asyncio.sleep(chance.uniform(0, 0.05))
    await service.kill()
    await until_killed(*deletions)


@pytest.mark.timeout(300)  # on a busy machine
async def test_ingestion_killed_at_any_moment_loses_and_doubles_nothing(tmp_path: Path) -> None:
    await kill_again_and_again(tmp_path, ingest_until_killed)


@pytest.mark.timeout(300)
async def test_deletion_killed_at_any_moment_leaves_nothing_behind(tmp_path: Path) -> None:
    await kill_again_and_again(tmp_path, delete_until_killed)
