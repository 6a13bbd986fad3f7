"""What is deleted is gone from every byte of the data folder, also where the service is killed meanwhile."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import grpc
import pytest
from google.protobuf.field_mask_pb2 import FieldMask

from proviso_client.v1 import access_pb2, chat_pb2, context_pb2, matters_pb2, sessions_pb2, tools_pb2
from proviso_service.embedded import DIMENSIONS
from tests.support.endless_process import endless_service
from tests.support.erasing_service import POINTS
from tests.support.running import ServiceStubs, chat_request
from tests.support.served import served

pytestmark = pytest.mark.timeout(300)

WORDS = ("Vorkheliot", "Zanquibar")
PHRASE = " ".join(WORDS)
TEXT = f"# {PHRASE}\n\n## 1. Fees\n\nThe {PHRASE} shall pay USD 12,000 per month.\n\n" + "More of it. " * 200
OTHERS = "# Lease\n\n## 1. Rent\n\nThe Tenant shall pay USD 900 per month to Quillfeather.\n"


async def plant(service: ServiceStubs) -> str:
    """A matter that has the phrase wherever it can be; returns its id."""
    matter_id = await service.create_matter(PHRASE, **{WORDS[0]: TEXT})
    matter = matters_pb2.Matter(matter_id=matter_id, notes=PHRASE)
    await service.matters.UpdateMatter(
        matters_pb2.UpdateMatterRequest(matter=matter, update_mask=FieldMask(paths=["notes"]))
    )
    await service.tools.ExecuteIql(
        tools_pb2.ExecuteIqlRequest(matter_id=matter_id, query='{IS clause obligating "' + PHRASE + '"}')
    )
    await service.tools.Extract(tools_pb2.ExtractRequest(matter_id=matter_id, question=f"What shall the {PHRASE} pay?"))
    file = context_pb2.DocumentContext(filename=f"{PHRASE}.pdf", type="pdf", summary=PHRASE)
    question = f"What shall the {PHRASE} pay per month?"
    for session_id in ("s-others", "s-planted", "", "s-planted"):
        asked = await service.ask(question, matter_id, session_id=session_id, document_context=[file])
    session = sessions_pb2.Session(session_id="s-planted", title=PHRASE, notes=PHRASE)
    await service.sessions.UpdateSession(
        sessions_pb2.UpdateSessionRequest(session=session, update_mask=FieldMask(paths=["title", "notes"]))
    )
    rating = sessions_pb2.RateAnswerRequest(turn_id=asked[0].turn_id, rating=sessions_pb2.RATING_DOWN, text=PHRASE)
    await service.sessions.RateAnswer(rating)
    await service.sessions.ContinueSession(
        sessions_pb2.ContinueSessionRequest(session_id="s-planted", new_session_id="s-continued")
    )
    return matter_id


async def plant_others(service: ServiceStubs) -> str:
    """A matter and a session of which nothing may be lost. The session was about this matter before it was about the
    other one."""
    matter_id = await service.create_matter("Lease", lease=OTHERS)
    await service.ask("What shall the Tenant pay?", matter_id, session_id="s-others")
    return matter_id


def found_in(data_dir: Path) -> set[str]:
    """The files that have a word of the phrase, in any case, as UTF-8 or UTF-16, in their name or in any byte."""
    found = set()
    for file in data_dir.rglob("*"):
        content = file.read_bytes().lower() if file.is_file() else b""
        for word in map(str.lower, WORDS):
            encoded = (word.encode(), word.encode("utf-16-le"))
            if word in file.name.lower() or any(form in content for form in encoded):
                found.add(file.relative_to(data_dir).as_posix())
    return found


VECTOR_BYTES = 4 * DIMENSIONS


def vectors_of(data_dir: Path, matter_id: str) -> list[bytes]:
    """The vectors of a matter's passages."""
    query = """SELECT substr(vectors, ordinal * ? + 1, ?) FROM document_vectors
               JOIN documents USING (tenant, document_id) JOIN chunks USING (tenant, document_id) WHERE matter_id = ?"""
    with closing(sqlite3.connect(data_dir / "state.sqlite3")) as state:
        return [vector for (vector,) in state.execute(query, [VECTOR_BYTES, VECTOR_BYTES, matter_id])]


async def completed(service: ServiceStubs, matter_id: str) -> access_pb2.Deletion:
    """The receipt of the matter's deletion once it is complete."""
    async with asyncio.timeout(60):
        while True:
            listed = await service.access.ListDeletions(access_pb2.ListDeletionsRequest(matter_id=matter_id))
            receipts = [one for one in listed.deletions if one.kind == access_pb2.DELETION_KIND_MATTER]
            if receipts and receipts[0].HasField("complete_time"):
                return receipts[0]
            await asyncio.sleep(0.05)


async def others_are_whole(service: ServiceStubs, matter_id: str) -> None:
    found = await service.tools.Search(tools_pb2.SearchRequest(matter_id=matter_id, query="Quillfeather"))
    assert "Quillfeather" in found.results[0].chunk_text
    listed = await service.sessions.ListMessages(sessions_pb2.ListMessagesRequest(session_id="s-others"))
    assert len(listed.messages) == 2
    assert "900" in listed.messages[1].content


async def asked_for_approval(service: ServiceStubs, matter_id: str) -> str:
    """A turn about the matter that waits for a person; returns its id."""
    call = service.chat.Chat(chat_request(f"List {PHRASE}", matter_id, session_id="s-waiting"))
    async for event in call:
        if event.WhichOneof("event") == "approval_required":
            call.cancel()
            return event.turn_id
    raise AssertionError


class Stubs(ServiceStubs):
    def __init__(self, channel: grpc.aio.Channel) -> None:
        self.channel = channel


async def test_a_deleted_matter_is_gone_from_every_byte(tmp_path: Path, models_dir: Path) -> None:
    data_dir = tmp_path / "data"
    async with served(data_dir, models_dir) as planted:
        others = await plant_others(planted)
        matter_id = await plant(planted)
        vectors = vectors_of(data_dir, matter_id)
    assert found_in(data_dir)
    assert vectors
    async with endless_service(data_dir, models_dir, "tests.support.erasing_service") as process:
        service = Stubs(process.channel)
        await asked_for_approval(service, matter_id)
        deleted = await service.matters.DeleteMatter(matters_pb2.DeleteMatterRequest(matter_id=matter_id))
        receipt = await completed(service, matter_id)
        assert receipt.deletion_id == deleted.deletion_id
        assert (receipt.documents, receipt.turns) == (1, 5)
        assert receipt.messages >= 8
        assert receipt.size_bytes == len(TEXT.encode())
        assert found_in(data_dir) == set()
        await others_are_whole(service, others)
    files = [file.read_bytes() for file in data_dir.rglob("*") if file.is_file()]
    assert not [vector for vector in vectors if any(vector in content for content in files)]


async def receipt_of(service: ServiceStubs, deletion_id: str) -> access_pb2.Deletion:
    async with asyncio.timeout(60):
        while True:
            request = access_pb2.GetDeletionRequest(deletion_id=deletion_id)
            receipt = (await service.access.GetDeletion(request)).deletion
            if receipt.HasField("complete_time"):
                return receipt
            await asyncio.sleep(0.05)


async def test_deleted_sessions_and_documents_are_gone_from_every_byte(tmp_path: Path, models_dir: Path) -> None:
    """The document is not quoted by any conversation that stays."""
    data_dir = tmp_path / "data"
    async with served(data_dir, models_dir) as service:
        matter_id = await service.create_matter("Lease", lease=OTHERS, planted=TEXT)
        asked = await service.ask(f"What shall the {PHRASE} pay?", matter_id, session_id="s-planted")
        assert found_in(data_dir)
        deleted = await service.sessions.DeleteSession(sessions_pb2.DeleteSessionRequest(session_id="s-planted"))
        receipt = await receipt_of(service, deleted.deletion_id)
        assert (receipt.kind, receipt.turns, receipt.messages) == (access_pb2.DELETION_KIND_SESSION, 1, 2)
        with pytest.raises(grpc.aio.AioRpcError, match="No turn"):
            await service.chat.ResumeChat(chat_pb2.ResumeChatRequest(turn_id=asked[0].turn_id)).read()
        listed = await service.matters.ListDocuments(matters_pb2.ListDocumentsRequest(matter_id=matter_id))
        document_id = next(one.document_id for one in listed.documents if one.filename == "planted.md")
        request = matters_pb2.DeleteDocumentRequest(matter_id=matter_id, document_id=document_id)
        receipt = await receipt_of(service, (await service.matters.DeleteDocument(request)).deletion_id)
        assert (receipt.kind, receipt.documents) == (access_pb2.DELETION_KIND_DOCUMENT, 1)
        assert found_in(data_dir) == set()


async def test_a_turn_is_deleted_with_every_matter_that_its_session_knew_before(
    tmp_path: Path, models_dir: Path
) -> None:
    async with served(tmp_path / "data", models_dir) as service:
        others = await plant_others(service)
        matter_id = await plant(service)
        deleted = await service.matters.DeleteMatter(matters_pb2.DeleteMatterRequest(matter_id=others))
        assert (await receipt_of(service, deleted.deletion_id)).turns == 2
        listed = await service.sessions.ListSessions(sessions_pb2.ListSessionsRequest())
        assert {one.session_id for one in listed.sessions} == {"s-planted", "s-continued"}
        found = await service.matters.GetMatter(matters_pb2.GetMatterRequest(matter_id=matter_id))
        assert found.matter.name == PHRASE


@pytest.mark.parametrize("point", POINTS)
async def test_a_service_killed_while_it_erases_goes_on_after_its_start(
    tmp_path: Path, models_dir: Path, point: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data_dir = tmp_path / "data"
    async with served(data_dir, models_dir) as planted:
        others = await plant_others(planted)
        matter_id = await plant(planted)
    monkeypatch.setenv("ERASING_DIES_AT", point)
    async with endless_service(data_dir, models_dir, "tests.support.erasing_service") as process:
        service = Stubs(process.channel)
        await asked_for_approval(service, matter_id)
        deletion = service.matters.DeleteMatter(matters_pb2.DeleteMatterRequest(matter_id=matter_id))
        async with asyncio.timeout(60):
            await process.process.wait()
        deletion.cancel()
    monkeypatch.delenv("ERASING_DIES_AT")
    async with served(data_dir, models_dir) as restarted:
        await completed(restarted, matter_id)
        assert found_in(data_dir) == set()
        await others_are_whole(restarted, others)
