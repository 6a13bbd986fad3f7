"""A conversation with the whole service: its commands, and a turn that was left while a call waits."""

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from proviso_client.v1 import catalog_pb2, chat_pb2, sessions_pb2, turns_pb2
from proviso_client.v1.catalog_pb2_grpc import CatalogServiceStub
from tests.support.marked_tools import needing_approval
from tests.support.running import AGREEMENT, RunningService, chat_request, running_service
from tests.support.scripted_model import Call, calls, text

TIME_LIMIT_S = 20


@asynccontextmanager
async def chat(service: RunningService, folder: Path, *options: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Both outputs are one, in the order in which they are written."""
    talking = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "proviso_service.cli", "chat", "--address", f"127.0.0.1:{service.app.port}", *options),
        cwd=folder,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        yield talking
    finally:
        if talking.returncode is None:
            talking.kill()
            await talking.wait()


async def said(service: RunningService, folder: Path, *lines: str, options: tuple[str, ...]) -> list[str]:
    """What stands after each prompt."""
    typed = "".join(f"{line}\n" for line in lines).encode()
    async with chat(service, folder, *options) as talking:
        shown, _ = await asyncio.wait_for(talking.communicate(typed), TIME_LIMIT_S)
    assert talking.returncode == 0
    return [answer.strip() for answer in shown.decode().split("\n> ")[1:-1]]


async def test_items_are_added_previewed_used_rebuilt_and_removed(service: RunningService, tmp_path: Path) -> None:
    await service.create_matter("Lease", lease=AGREEMENT)
    added, again, previewed, answered, shown, rebuilt, removed, after, history = await said(
        service,
        tmp_path,
        '/add reference "Parts of an agreement"',
        "/add reference Parts of an agreement",
        "/preview Which law governs the lease?",
        "Which law governs the lease?",
        "/context",
        "/rebuild",
        "/remove reference Parts of an agreement",
        "/preview Which law governs the lease?",
        "/history",
        options=("--matter", "Lease", "--session", "s-1"),
    )
    assert added == again
    assert added.startswith("Parts of an agreement is in the session: ")
    assert "1 reference (manual)" in added
    assert "  \u2022 Parts of an agreement [Manual]" in previewed
    assert "the State of Oregon" in answered
    assert items(shown) == items(previewed)
    assert "Used by the answer" in shown
    assert re.fullmatch(r"The request can be rebuilt exactly as it was sent \(SHA-256 [0-9a-f]{64}\)\.", rebuilt)
    assert removed.startswith("Parts of an agreement is not in the session: ")
    assert "Parts of an agreement" not in items(after)
    assert history.startswith("User, ")
    assert history.count("Which law governs the lease?") == 1


def items(page: str) -> str:
    """The part of a context that tells its items."""
    return page.partition("Context Used:")[2].partition("\n\nUsed by")[0].partition("\n\nLeft out")[0].strip()


async def test_what_cannot_be_done_is_told_and_the_conversation_goes_on(
    service: RunningService, tmp_path: Path
) -> None:
    told = await said(
        service,
        tmp_path,
        "/add rule Plain langage",
        "/remove tool proviso:isaacus_serch",
        "/add tool isaacus_search",
        "/rebuild",
        "/context",
        "Hello",
        "/rebuild",
        "/add rule Plain language",
        options=("--session", "s-2"),
    )
    near = "tool 'proviso:isaacus_search' or tool 'proviso:isaacus_iql' or tool 'proviso:isaacus_extract'"
    assert told[:5] == [
        "proviso: The catalog has no rule 'Plain langage'; did you mean rule 'Plain language'?",
        f"proviso: The catalog has no tool 'proviso:isaacus_serch'; did you mean {near}?",
        "proviso: Name a tool with its server, as in /add tool proviso:isaacus_search",
        "There is no answer in this session yet.",
        "There is no answer in this session yet.",
    ]
    assert told[6] == "The last answer was given without the model: there is nothing to rebuild."
    assert told[7].startswith("Plain language is in the session: ")


async def test_a_rebuild_names_an_item_that_has_changed_since(tmp_path: Path, models_dir: Path) -> None:
    agent = tmp_path / "agent"
    rule = agent / "rules" / "short.md"
    rule.parent.mkdir(parents=True)
    (agent / "agent.yaml").write_text("name: Small\ndescription: One rule.\n")
    rule.write_text("---\nname: Short\ndescription: Short answers.\n---\nAnswer in one sentence.\n")
    async with running_service(tmp_path / "data", models_dir, agent_dir=agent) as service:
        await service.create_matter("Lease", lease=AGREEMENT)
        session = ("--session", "s-3", "--matter", "Lease")
        (first,) = await said(service, tmp_path, "Hello", options=session)
        assert first
        rule.write_text("---\nname: Short\ndescription: Short answers.\n---\nAnswer in two sentences.\n")
        await CatalogServiceStub(service.channel).ReloadCatalog(catalog_pb2.ReloadCatalogRequest())
        (rebuilt,) = await said(service, tmp_path, "/rebuild", options=session)
    assert rebuilt.startswith("The request can be rebuilt exactly as it was sent (SHA-256 ")
    assert rebuilt.endswith("\u2022 Short has another version in the catalog now")


async def test_a_chat_that_comes_back_shows_the_call_that_waits_and_then_sends_its_message(
    tmp_path: Path, models_dir: Path
) -> None:
    waiting, first, second = (
        calls(Call("list_matter_documents")),
        text("There are no documents."),
        text("You are welcome."),
    )
    with needing_approval("list_matter_documents"):
        async with running_service(tmp_path / "data", models_dir, waiting, first, second) as service:
            matter_id = await service.create_matter()
            asked = await until_asked(service, matter_id)
            async with chat(service, tmp_path, "--session", "s-4") as back:
                assert back.stdin
                assert back.stdout
                back.stdin.write(b"Thank you\n")
                waits = back.stdout.readuntil(asked.approval_required.call_id.encode())
                shown = await asyncio.wait_for(waits, TIME_LIMIT_S)
                await approve(service, asked)
                rest, _ = await asyncio.wait_for(back.communicate(b""), TIME_LIMIT_S)
            listed = await service.sessions.ListMessages(sessions_pb2.ListMessagesRequest(session_id="s-4"))
    assert b"This session is still answering an earlier message. Yours is sent after it." in shown
    assert b"proviso:list_matter_documents" in shown
    assert rest.index(b"There are no documents.") < rest.index(b"You are welcome.")
    assert [message.content for message in listed.messages if message.role == sessions_pb2.MESSAGE_ROLE_USER] == [
        "What is there?",
        "Thank you",
    ]


async def approve(service: RunningService, asked: chat_pb2.AgentEvent) -> None:
    call_id, once = asked.approval_required.call_id, turns_pb2.TOOL_CALL_DECISION_APPROVE_ONCE
    request = chat_pb2.DecideToolCallRequest(turn_id=asked.turn_id, call_id=call_id, decision=once)
    await service.chat.DecideToolCall(request)


async def until_asked(service: RunningService, matter_id: str) -> chat_pb2.AgentEvent:
    """Leaves a turn that waits; its event that asks."""
    call = service.chat.Chat(chat_request("What is there?", matter_id, session_id="s-4"))
    async for event in call:
        if event.HasField("approval_required"):
            call.cancel()
            return event
    pytest.fail("nobody was asked")
