"""What is done over a channel is in the audit, which auditors of the tenant read."""

import asyncio
import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from google.protobuf.descriptor_pb2 import MethodOptions
from structlog.testing import capture_logs

from proviso_client import AsyncClient, ProvisoError
from proviso_client.v1 import access_pb2 as pb
from proviso_client.v1 import chat_pb2, turns_pb2
from proviso_service.access import ApiKey, digest_of, new_key
from proviso_service.access.audit import MAX_REFUSED
from proviso_service.api.standard_services import SERVICES
from proviso_service.backends.sql.access import SqlApiKeyStore
from proviso_service.backends.sql.audit import SqlAuditStore
from proviso_service.backends.sql.database import Database
from proviso_service.errors import Unavailable
from proviso_service.identity import Role
from proviso_service.matters.pipeline import Pipeline
from proviso_service.wiring_access import api_key_secret
from tests.support.changes import database_changes
from tests.support.configured import configured
from tests.support.marked_tools import needing_approval
from tests.support.migrated import state_in
from tests.support.running import RunningService, chat_request, running_service
from tests.support.scripted_model import Call, calls, text

UNRECORDED = {"ResumeChat", "WatchDocuments"}
"""Streams that change nothing."""

READS = {
    *("GetDocumentContent", "GetDocumentPage", "GetDocumentText", "ExecuteIql", "StreamIql", "Search", "Extract"),
    *("Classify", "ListRatings", "ListJobs", "ExportMatter"),
}


def client_of(running: RunningService) -> AsyncClient:
    return AsyncClient(f"127.0.0.1:{running.app.port}")


def name_of(event: pb.AuditEvent) -> str:
    return event.method.rpartition("/")[2]


async def events_of(client: AsyncClient, **wanted: Any) -> list[pb.AuditEvent]:
    """The oldest first, without those of reading the audit."""
    found = [event async for event in client.audit_events(**wanted)]
    return [event for event in reversed(found) if name_of(event) != "ListAuditEvents"]


async def wait_for(client: AsyncClient, *methods: str) -> list[pb.AuditEvent]:
    """The events, once there is one of each of these methods: some are stored after the answer of their call."""

    async def are_there() -> bool:
        return set(methods) <= {name_of(event) for event in await events_of(client)}

    with database_changes() as changes:
        await changes.until(are_there)
    return await events_of(client)


async def change_everything(running: RunningService, client: AsyncClient) -> None:
    """Every method that changes something, once."""
    matter = await client.matters.create("Secret name")
    await client.matters.update(matter.matter_id, notes="Secret notes")
    await client.matters.set_legal_hold(matter.matter_id, "Secret reason")
    await client.matters.lift_legal_hold(matter.matter_id)
    await client.matters.grant(matter.matter_id, "bob", "reader")
    await client.matters.revoke(matter.matter_id, "bob")
    with patch.object(Pipeline, "ingest", lambda *_: asyncio.Event().wait()):
        document = await running.upload(matter.matter_id, "secret.md", b"# Secret\n\nText.")
        await client.cancel_job(matter.matter_id, document.document_id)
    await client.retry_job(matter.matter_id, document.document_id)
    await running.wait_until_ready(matter.matter_id)
    await client.sessions.create("s")
    await client.sessions.update("s", title="Secret title")
    await client.sessions.remove_item("s", "tool", "isaacus_search", "proviso")
    await client.sessions.add_item("s", "tool", "isaacus_search", "proviso")
    turn_id = await ask_and_decide(running, matter.matter_id)
    await running.chat.Invoke(chat_request("Secret question?", matter.matter_id))
    await client.sessions.rate(turn_id, "up")
    await client.sessions.continue_from("s")
    await running.chat.CancelTurn(chat_pb2.CancelTurnRequest(turn_id=turn_id))
    await client.sessions.delete("s")
    await client.documents.delete(matter.matter_id, document.document_id)
    await client.catalog.reload()
    async for _ in client.rebuild_index():
        pass
    await client.matters.delete(matter.matter_id)


async def ask_and_decide(running: RunningService, matter_id: str) -> str:
    turn_id = ""
    async for event in running.chat.Chat(chat_request("Secret question?", matter_id, session_id="s")):
        turn_id = turn_id or event.turn_id
        if event.HasField("approval_required"):
            decision = turns_pb2.TOOL_CALL_DECISION_APPROVE_ONCE
            call_id = event.approval_required.call_id
            await running.chat.DecideToolCall(
                chat_pb2.DecideToolCallRequest(turn_id=turn_id, call_id=call_id, decision=decision)
            )
    return turn_id


async def read_everything(client: AsyncClient, matter_id: str, document_id: str) -> None:
    async for _ in client.matters.export(matter_id):
        pass
    async for _ in client.documents.content(matter_id, document_id):
        pass
    with pytest.raises(ProvisoError):
        await client.documents.page(matter_id, document_id, 1)  # a Markdown file has none
    await client.tools.document_text(matter_id, document_id=document_id)
    await client.tools.execute_iql(matter_id, "{IS confidentiality clause}")
    async for _ in client.tools.stream_iql(matter_id, "{IS confidentiality clause}"):
        pass
    await client.tools.search(matter_id, "fees")
    await client.tools.extract(matter_id, "What are the fees?")
    await client.tools.classify(matter_id)
    [_ async for _ in client.ratings()]
    [_ async for _ in client.jobs()]


def changing_methods() -> set[str]:
    """Those that the contract does not declare to have no side effects."""
    return {
        method.name
        for service in SERVICES
        for method in service.methods
        if method.GetOptions().idempotency_level != MethodOptions.NO_SIDE_EFFECTS
    }


async def test_every_method_that_changes_something_records_one_event_without_contents(
    tmp_path: Path, models_dir: Path
) -> None:
    script = (calls(Call("list_matter_documents")), text("I can see none."), text("I can see none."))
    with needing_approval("list_matter_documents"):
        async with running_service(tmp_path, models_dir, *script) as running, client_of(running) as client:
            await change_everything(running, client)
            events = await wait_for(client, "CancelTurn", "ReloadCatalog", "RebuildIndex")
    called = Counter(name_of(event) for event in events if event.method and not event.action.startswith("read "))
    assert called == dict.fromkeys(changing_methods() - UNRECORDED - READS, 1)
    assert [event.sequence for event in events] == sorted(event.sequence for event in events)
    assert all(event.outcome == pb.AUDIT_OUTCOME_DONE and event.resource_id != "" for event in events if event.resource)
    assert not any("ecret" in str(event) for event in events)
    assert {(event.user_id, event.action) for event in events if not event.method} <= {
        ("service", "clear"),
        ("service", "erase"),
    }
    asked = next(event for event in events if name_of(event) == "Invoke")
    created = next(event for event in events if name_of(event) == "CreateMatter")
    assert asked.matter_id == created.matter_id != ""
    assert created.peer.startswith("ipv4:127.0.0.1:")
    assert created.request_id


async def test_what_is_read_of_a_matter_is_recorded(tmp_path: Path, models_dir: Path) -> None:
    async with running_service(tmp_path, models_dir) as running:
        matter_id = await running.create_matter(fees="# Fees\n\nThe fees are USD 5.")
        (document,) = await running.wait_until_ready(matter_id)
        async with client_of(running) as client:
            await read_everything(client, matter_id, document.document_id)
            read = READS - {"GetDocumentPage"}
            events = [event for event in await wait_for(client, *read) if event.action in {"read", "export"}]
            assert Counter(map(name_of, events)) == dict.fromkeys(read, 1)
            assert {event.matter_id for event in events if name_of(event) not in {"ListRatings", "ListJobs"}} == {
                matter_id
            }
            shown = next(event for event in events if name_of(event) == "GetDocumentContent")
            assert (shown.resource, shown.resource_id) == ("document", document.document_id)


async def test_what_the_agent_reads_in_a_turn_is_one_event(tmp_path: Path, models_dir: Path) -> None:
    searches = calls(*(Call("isaacus_search", json.dumps({"query": query})) for query in ("fees", "insurance")))
    fails = calls(Call("get_document_text", '{"filename": "none.md"}'))
    script = (searches, calls(Call("list_matter_documents")), fails, text("Which fees do you mean?"))
    async with running_service(tmp_path, models_dir, *script, text("Which ones?")) as running:
        matter_id = await running.create_matter(fees="# Fees\n\nUSD 5.", insurance="# Insurance\n\nUSD 7.")
        await running.ask("What are the fees?", matter_id)
        await running.ask("Fees?", matter_id)
        async with client_of(running) as client:
            read, *others = [event for event in await events_of(client) if event.action.startswith("read ")]
    assert not others
    assert read.action == "read by isaacus_search, list_matter_documents; documents: 2"
    assert (read.method, read.matter_id, read.resource) == ("ChatService/Chat", matter_id, "turn")


async def test_what_cannot_be_stored_is_told_by_one_line_of_the_log_with_all_that_it_says(
    tmp_path: Path, models_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: object) -> None:
        raise Unavailable("the disk is full")

    with capture_logs() as log:
        async with running_service(tmp_path, models_dir) as running, client_of(running) as client:
            matter_id = await running.create_matter(fees="# Fees\n\nUSD 5.")
            monkeypatch.setattr(SqlAuditStore, "append", fails)
            await client.tools.search(matter_id, "fees")
    (lost,) = [line for line in log if line["event"] == "audit_event_not_stored"]
    assert (lost["log_level"], lost["reason"]) == ("error", "the disk is full")
    assert (lost["user_id"], lost["method"], lost["action"]) == ("local", "ToolService/Search", "read")
    assert lost["matter_id"] == matter_id
    assert {"tenant", "key", "peer", "request_id", "resource", "resource_id", "outcome"} <= set(lost)


async def test_what_changes_nothing_is_not_recorded(tmp_path: Path, models_dir: Path) -> None:
    async with running_service(tmp_path, models_dir) as running, client_of(running) as client:
        matter = await client.matters.create("M")
        await client.matters.update(matter.matter_id, name="M")
        await client.matters.get(matter.matter_id)
        await client.get_caller()
        assert [name_of(event) for event in await events_of(client)] == ["CreateMatter"]


async def test_events_are_found_by_matter_user_method_and_time(tmp_path: Path, models_dir: Path) -> None:
    async with running_service(tmp_path, models_dir) as running, client_of(running) as client:
        first = await client.matters.create("A")
        second = await client.for_user("bob").matters.create("B")
        await client.matters.delete(first.matter_id)
        one, two, three, *_ = await events_of(client, page_size=1)
        assert await events_of(client, matter_id=second.matter_id) == [two]
        assert await events_of(client, user_id="bob") == [two]
        assert await events_of(client, method="MatterService/DeleteMatter") == [three]
        middle = two.time.ToDatetime(UTC)
        assert await events_of(client, start=middle, end=three.time.ToDatetime(UTC)) == [two]
        assert await events_of(client, end=middle) == [one]
        assert await events_of(client, start=datetime.now(UTC) + timedelta(days=1)) == []


async def key_for(folder: Path, tenant: str, *roles: Role) -> str:
    settings, _ = configured({"data_dir": folder})
    key_id, key = new_key()
    made = ApiKey(
        key_id, tenant, " ".join(roles), frozenset(roles), digest_of(api_key_secret(settings), key), datetime.now(UTC)
    )
    database = Database(state_in(folder))
    await SqlApiKeyStore(database).add(made)
    await database.close()
    return key


async def test_auditors_see_their_tenant_and_nobody_else_does(tmp_path: Path, models_dir: Path) -> None:
    auditor, admin = await key_for(tmp_path, "acme", Role.AUDITOR), await key_for(tmp_path, "acme", Role.ADMIN)
    stranger = await key_for(tmp_path, "other", Role.AUDITOR, Role.ADMIN)
    async with running_service(tmp_path, models_dir, auth={"api_keys": True}) as running:
        target = f"127.0.0.1:{running.app.port}"
        async with (
            AsyncClient(target, token=auditor, insecure_token=True) as reader,
            AsyncClient(target, token=admin, insecure_token=True) as worker,
            AsyncClient(target, token=stranger, insecure_token=True) as other,
            AsyncClient(target) as nobody,
        ):
            matter = await worker.matters.create("M")
            with pytest.raises(ProvisoError):
                await events_of(worker)
            with pytest.raises(ProvisoError):
                await other.matters.get(matter.matter_id)
            with pytest.raises(ProvisoError):
                await reader.matters.get(matter.matter_id)
            with pytest.raises(ProvisoError):
                await nobody.matters.get(matter.matter_id)
            await wait_for(reader, "GetMatter")
            seen = [event async for event in reader.audit_events(matter_id=matter.matter_id)]
            assert [(event.user_id, name_of(event), event.outcome) for event in reversed(seen)] == [
                ("admin", "CreateMatter", pb.AUDIT_OUTCOME_DONE),
                ("auditor", "GetMatter", pb.AUDIT_OUTCOME_REFUSED),
            ]
            assert all(event.key for event in seen)
            everything = [event async for event in reader.audit_events()]
            refused = [event for event in everything if event.outcome == pb.AUDIT_OUTCOME_REFUSED]
            assert {name_of(event) for event in refused} == {"GetMatter", "ListAuditEvents"}
            foreign = await wait_for(other, "GetMatter")
            assert [event.method for event in foreign] == ["", "MatterService/GetMatter"]


async def test_refused_calls_cannot_fill_the_disk(tmp_path: Path, models_dir: Path) -> None:
    async with running_service(tmp_path, models_dir) as running, client_of(running) as client:
        for _ in range(3 * MAX_REFUSED):
            with pytest.raises(ProvisoError):
                await client.matters.get("25e70284-6124-4a2b-9c89-0123456789ab")
        # A minute may end between the calls.
        assert len(await wait_for(client, "GetMatter")) <= 2 * MAX_REFUSED
