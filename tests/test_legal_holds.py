"""A legal hold keeps a matter, its documents and what conversations know of it; administrators set and lift it."""

from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest

from tests.support.access_world import Callers, Metadata, callers, method_named, request_of
from tests.support.running import AGREEMENT, new_id
from tests.support.scripted_model import Step

pytestmark = pytest.mark.timeout(300)

SCRIPT = [Step([f"The fee is not known to me, {number}."]) for number in range(20)]


@pytest.fixture
async def world(tmp_path: Path, models_dir: Path) -> AsyncIterator[Callers]:
    async with callers(tmp_path, models_dir, *SCRIPT) as running:
        yield running


async def reason(world: Callers, name: str, by: Metadata, /, **fields: object) -> str:
    """The reason of the refusal; empty where the call was answered."""
    found = await world.call(method_named(name), request_of(method_named(name), **fields), by)
    return found.reason if found.code is not grpc.StatusCode.OK else ""


async def asked(world: Callers, by: Metadata, session_id: str, matter_id: str) -> None:
    context = {"matter_id": matter_id}
    await world.ask("Chat", by, message="What is the fee?", session_id=session_id, matter_context=context)


async def test_what_is_under_a_hold_cannot_be_deleted_until_it_is_lifted(world: Callers) -> None:
    ada, root = world.metadata("smith", "ada"), world.metadata("smith", "root", roles=["admin", "auditor"])
    held, shared, free = [await world.matter(ada, agreement=AGREEMENT) for _ in range(3)]
    await asked(world, ada, "s-held", held)
    await asked(world, ada, "s-held", shared)
    await asked(world, ada, "s-free", free)
    assert not await reason(world, "SetLegalHold", root, matter_id=held, reason="Smith v. Jones")
    assert not await reason(world, "SetLegalHold", root, matter_id=held, reason="Smith v. Jones")
    shown = (await world.ask("GetMatter", ada, matter_id=held)).matter.legal_hold
    assert (shown.user_id, shown.reason) == ("root", "Smith v. Jones")
    listed = await world.ask("ListDocuments", ada, matter_id=held)
    document = {"matter_id": held, "document_id": listed.documents[0].document_id}
    for name, fields in (
        ("DeleteMatter", {"matter_id": held}),
        ("DeleteMatter", {"matter_id": shared}),
        ("DeleteDocument", document),
        ("DeleteSession", {"session_id": "s-held"}),
    ):
        assert await reason(world, name, ada, **fields) == "LEGAL_HOLD", (name, fields)
        assert await reason(world, name, root, **fields) == (
            "LEGAL_HOLD" if name != "DeleteSession" else "SESSION_NOT_FOUND"
        )
    assert not await reason(world, "DeleteMatter", ada, matter_id=free)
    assert (await world.ask("ListMessages", ada, session_id="s-held")).total_size == 4
    assert not await reason(world, "LiftLegalHold", root, matter_id=held)
    assert not await reason(world, "LiftLegalHold", root, matter_id=held)
    assert not (await world.ask("GetMatter", ada, matter_id=held)).matter.HasField("legal_hold")
    assert not await reason(world, "DeleteDocument", ada, **document)
    assert not await reason(world, "DeleteSession", ada, session_id="s-held")
    assert not await reason(world, "DeleteMatter", ada, matter_id=shared)
    assert not await reason(world, "DeleteMatter", ada, matter_id=held)
    events = (await world.ask("ListAuditEvents", root, filter={"matter_id": held})).events
    assert [event.user_id for event in events if event.action in ("hold", "lift hold") and event.outcome == 1] == [
        "root"
    ] * 2


async def test_only_administrators_who_see_the_matter_hold_it(world: Callers) -> None:
    ada = world.metadata("smith", "ada")
    matter = await world.matter(ada, agreement=AGREEMENT)
    confined = world.metadata("smith", "root", roles=["admin"], matters=[new_id()])
    for by, expected in (
        (ada, "PERMISSION_DENIED"),
        (world.metadata("smith", "bob"), "MATTER_NOT_FOUND"),
        (world.metadata("jones", "root", roles=["admin"]), "MATTER_NOT_FOUND"),
        (confined, "MATTER_NOT_FOUND"),
    ):
        assert await reason(world, "SetLegalHold", by, matter_id=matter, reason="Any") == expected
        assert await reason(world, "LiftLegalHold", by, matter_id=matter) == expected
    root = world.metadata("smith", "root", roles=["admin"])
    for text in ("", "   ", "x" * 1_001):
        assert await reason(world, "SetLegalHold", root, matter_id=matter, reason=text) == "INVALID_REQUEST"
