"""The service deletes what is older than its tenant keeps it, with receipts, unless a legal hold keeps it."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import grpc
import pytest

from proviso_client.v1 import access_pb2, chat_pb2, matters_pb2, sessions_pb2
from proviso_service.wiring_resources import StartupError
from tests.support.running import AGREEMENT, RunningService, running_service
from tests.support.scripted_model import Step

LONG_AGO = "2020-01-01 00:00:00.000000"
RULES = """
[default]
conversation_days = 30

[tenants.local]
turn_days = 10
document_days = 365
"""


async def plant(service: RunningService) -> tuple[str, str]:
    """Two matters, each with a document, a conversation that was, and another one that goes on; the second is held."""
    free, held = [await service.create_matter(name, agreement=AGREEMENT) for name in ("Free", "Held")]
    for name, matter_id in (("free", free), ("held", held)):
        for session_id in (f"s-{name}-old", f"s-{name}"):
            await service.ask("What is the fee?", matter_id, session_id=session_id)
    await service.matters.SetLegalHold(matters_pb2.SetLegalHoldRequest(matter_id=held, reason="Smith v. Jones"))
    return free, held


def make_old(data_dir: Path) -> None:
    with closing(sqlite3.connect(data_dir / "state.sqlite3")) as state, state:
        state.execute("UPDATE sessions SET update_time = ? WHERE session_id LIKE '%-old'", [LONG_AGO])
        state.execute("UPDATE documents SET upload_time = ?", [LONG_AGO])
        state.execute("UPDATE turns SET end_time = ?", [LONG_AGO])


async def receipts(service: RunningService, count: int) -> list[access_pb2.Deletion]:
    """All receipts once there are so many, and all are complete."""
    async with asyncio.timeout(60):
        while True:
            found = list((await service.access.ListDeletions(access_pb2.ListDeletionsRequest())).deletions)
            if len(found) >= count and all(one.HasField("complete_time") for one in found):
                return found
            await asyncio.sleep(0.05)


@pytest.mark.timeout(300)
async def test_what_is_old_is_deleted_at_the_start_but_not_what_is_held(tmp_path: Path, models_dir: Path) -> None:
    data_dir = tmp_path / "data"
    script = [Step([f"The fee is not known to me, {number}."]) for number in range(9)]
    async with running_service(data_dir, models_dir, *script) as service:
        free, held = await plant(service)
    make_old(data_dir)
    (data_dir / "retention.toml").write_text(RULES)
    async with running_service(data_dir, models_dir, *script) as service:
        found = await receipts(service, 3)
        kinds = {one.kind: one for one in found}
        assert len(found) == len(kinds) == 3
        assert {one.user_id for one in found} == {"service"}
        assert kinds[access_pb2.DELETION_KIND_SESSION].resource_id == "s-free-old"
        assert kinds[access_pb2.DELETION_KIND_DOCUMENT].matter_id == free
        assert kinds[access_pb2.DELETION_KIND_TURNS].turns == 1
        sessions = await service.sessions.ListSessions(sessions_pb2.ListSessionsRequest())
        assert {one.session_id for one in sessions.sessions} == {"s-free", "s-held-old", "s-held"}
        for matter_id, documents in ((free, 0), (held, 1)):
            shown = await service.matters.GetMatter(matters_pb2.GetMatterRequest(matter_id=matter_id))
            assert shown.matter.document_count == documents
        for session_id, kept in (("s-free", False), ("s-held", True)):
            listed = await service.sessions.ListMessages(sessions_pb2.ListMessagesRequest(session_id=session_id))
            assert len(listed.messages) == 2
            request = chat_pb2.GetTurnRequest(turn_id=listed.messages[1].turn_id)
            if kept:
                assert (await service.chat.GetTurn(request)).final_state.message
            else:
                with pytest.raises(grpc.aio.AioRpcError, match="No turn"):
                    await service.chat.GetTurn(request)
        events = (await service.access.ListAuditEvents(access_pb2.ListAuditEventsRequest())).events
        assert {event.resource for event in events if event.action == "delete"} == {"session", "document", "deletion"}


async def test_a_damaged_file_refuses_the_start(tmp_path: Path, models_dir: Path) -> None:
    (tmp_path / "retention.toml").write_text("[default]\nturn_days = 'long'")
    with pytest.raises(StartupError, match=r"retention.toml is wrong at default.turn_days"):
        async with running_service(tmp_path, models_dir):
            pass
