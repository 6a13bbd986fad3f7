"""Request contexts of the whole service: what a folder of rules and references makes of a message, and later."""

import hashlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from proviso_client.v1 import catalog_pb2, context_pb2, sessions_pb2
from proviso_client.v1.catalog_pb2_grpc import CatalogServiceStub
from tests.api.serving import refusal
from tests.support.catalogs import write
from tests.support.running import RunningService, final_of, running_service
from tests.support.scripted_model import text

QUOTING = "---\nname: Quoting\ndescription: How to quote.\npriority: 5\n---\nQuote exactly.\n"
RENT = (
    "---\nname: Rent\ndescription: When rent is due and what happens when it is late.\ninclude: agent\n---\n"
    "Rent is due on the first day of the month.\n"
)
SHELL = "---\nname: Shellfish\ndescription: How oysters are kept.\ninclude: agent\n---\nKeep oysters cold.\n"
OFF = "---\nname: Old rent\ndescription: When rent was due.\ninclude: agent\nenabled: false\n---\nRent was due.\n"
ASKED = "When is the rent due?"


@asynccontextmanager
async def service(folder: Path, models_dir: Path, *answers: str) -> AsyncIterator[RunningService]:
    script = [text(answer) for answer in answers]
    async with running_service(folder / "data", models_dir, *script, agent_dir=folder / "agent") as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(
        tmp_path / "agent", rules__quoting_md=QUOTING, references__rent_md=RENT, references__shell_md=SHELL,
        references__off_md=OFF,
    )  # fmt: skip
    return tmp_path


def names(context: context_pb2.RequestContext, kind: context_pb2.ContextItemType) -> list[tuple[str, int]]:
    return [(item.name, item.include_mode) for item in context.items if item.type == kind]


async def preview(running: RunningService, message: str, matter_id: str, **fields: Any) -> context_pb2.RequestContext:
    matter = context_pb2.MatterContext(matter_id=matter_id)
    request = sessions_pb2.PreviewRequestContextRequest(message=message, matter_context=matter, **fields)
    return (await running.sessions.PreviewRequestContext(request)).request_context


async def test_a_message_chooses_among_the_agents_items_and_the_rest_is_told_with_reasons(
    folder: Path, models_dir: Path
) -> None:
    async with service(folder, models_dir, "Do you mean the rent of the office?") as running:
        matter_id = await running.create_matter()
        final = final_of(await running.ask(ASKED, matter_id, session_id="s"))
        context = final.request_context
        assert names(context, context_pb2.CONTEXT_ITEM_TYPE_RULE) == [("Quoting", context_pb2.INCLUDE_MODE_ALWAYS)]
        assert names(context, context_pb2.CONTEXT_ITEM_TYPE_REFERENCE) == [("Rent", context_pb2.INCLUDE_MODE_AGENT)]
        [rent] = [item for item in context.items if item.name == "Rent"]
        assert 0.41 <= rent.similarity_score <= 1
        assert context.items[0].name == "Quoting"
        assert {(o.item.name, o.reason, o.HasField("score")) for o in context.omitted} == {
            ("Shellfish", context_pb2.OMISSION_REASON_BELOW_THRESHOLD, True),
            ("Old rent", context_pb2.OMISSION_REASON_DISABLED, False),
        }
        [retriever] = [item for item in context.items if item.name == "retriever"]
        assert retriever.note == "there is no documentation to look into"
        assert 0 < context.fill.item_characters < context.fill.item_characters_limit
        assert 0 < context.fill.item_tokens < context.fill.item_tokens_limit
        stored = await running.sessions.ListMessages(sessions_pb2.ListMessagesRequest(session_id="s"))
        assert stored.messages[-1].request_context.payload_sha256 == context.payload_sha256


async def test_a_preview_shows_what_the_message_then_gets(folder: Path, models_dir: Path) -> None:
    async with service(folder, models_dir, "Do you mean the rent of the office?") as running:
        matter_id = await running.create_matter()
        shown = await preview(running, ASKED, matter_id, session_id="s")
        with pytest.raises(grpc.aio.AioRpcError):
            await running.sessions.GetSession(sessions_pb2.GetSessionRequest(session_id="s"))
        got = final_of(await running.ask(ASKED, matter_id, session_id="s")).request_context
        for context in (shown, got):
            context.ClearField("timestamp")
            context.fill.ClearField("tokens_used")
        assert shown == got


async def test_a_preview_of_a_message_that_reaches_no_model_says_so(folder: Path, models_dir: Path) -> None:
    async with service(folder, models_dir) as running:
        document = context_pb2.DocumentContext(filename="a.md", type="md", summary="About A.")
        shown = await preview(running, " ", "", document_context=[document])
        assert not shown.items
        assert shown.payload_sha256 == ""
        assert [asset.note for asset in shown.assets] == ["the model was not called"]


async def test_old_requests_are_rebuilt_after_a_restart_and_a_change_of_the_folder(
    folder: Path, models_dir: Path
) -> None:
    async with service(folder, models_dir, "Do you mean the rent of the office?") as running:
        matter_id = await running.create_matter()
        events = await running.ask(ASKED, matter_id, session_id="s")
        turn_id, recorded = events[0].turn_id, final_of(events).request_context.payload_sha256
    write(folder / "agent", references__rent_md=RENT.replace("first", "second"))
    (folder / "agent/rules/quoting.md").unlink()
    async with service(folder, models_dir) as running:
        rebuilt = await running.sessions.RebuildRequest(sessions_pb2.RebuildRequestRequest(turn_id=turn_id))
        assert rebuilt.matches
        assert rebuilt.payload_sha256 == rebuilt.recorded_sha256 == recorded
        assert hashlib.sha256(rebuilt.payload_json.encode()).hexdigest() == recorded
        payload = json.loads(rebuilt.payload_json)
        assert "Rent is due on the first day of the month." in payload["system"]
        assert payload["messages"][-1]["content"].endswith(ASKED)
        assert {(d.item.name, d.change) for d in rebuilt.differences} == {
            ("Rent", sessions_pb2.ITEM_CHANGE_CHANGED),
            ("Quoting", sessions_pb2.ITEM_CHANGE_MISSING),
        }


async def test_a_reload_changes_the_next_turn(folder: Path, models_dir: Path) -> None:
    answers = ["Do you mean the rent of the office?"] * 2
    async with service(folder, models_dir, *answers) as running:
        matter_id = await running.create_matter()
        before = final_of(await running.ask(ASKED, matter_id)).request_context
        write(folder / "agent", references__rent_md=RENT.replace("first", "second"))
        await CatalogServiceStub(running.channel).ReloadCatalog(catalog_pb2.ReloadCatalogRequest())
        after = final_of(await running.ask(ASKED, matter_id)).request_context
        [old], [new] = ([i.content_sha256 for i in context.items if i.name == "Rent"] for context in (before, after))
        assert old != new


async def test_what_cannot_be_previewed_or_rebuilt_is_refused_with_its_reason(folder: Path, models_dir: Path) -> None:
    async with service(folder, models_dir) as running:
        unknown = await refusal(running.sessions.RebuildRequest(sessions_pb2.RebuildRequestRequest(turn_id="none")))
        assert (unknown.code, unknown.reason) == (grpc.StatusCode.NOT_FOUND, "TURN_UNKNOWN")
        blank = await running.ask(" ")
        request = sessions_pb2.RebuildRequestRequest(turn_id=blank[0].turn_id)
        nothing = await refusal(running.sessions.RebuildRequest(request))
        assert (nothing.code, nothing.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "NO_REQUEST_CONTEXT")
        bad = sessions_pb2.PreviewRequestContextRequest(image_urls=["http://a.example/1.png"], selected_assets=["b.md"])
        refused = await refusal(running.sessions.PreviewRequestContext(bad))
        assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
