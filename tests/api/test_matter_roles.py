"""Members of matters: what each role may do, how roles are given and taken, and what a credential opens."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor import MethodDescriptor

from proviso_client.v1 import matters_pb2 as pb
from proviso_service.access import Action, MatterRole
from proviso_service.api.interceptors.authentication import RULES
from tests.support.access_world import METHODS, Callers, Metadata, callers, filled, method_named, request_of
from tests.support.marked_tools import needing_approval
from tests.support.running import AGREEMENT, new_id
from tests.support.scripted_model import Call, Step

pytestmark = pytest.mark.timeout(300)

ROLES = {
    Action.READ_MATTER: MatterRole.READER,
    Action.EDIT_MATTER: MatterRole.EDITOR,
    Action.OWN_MATTER: MatterRole.OWNER,
}
SCRIPT = [Step([f"The fee is not known to me, {number}."]) for number in range(50)]


@pytest.fixture
async def world(tmp_path: Path, models_dir: Path) -> AsyncIterator[Callers]:
    async with callers(tmp_path, models_dir, *SCRIPT) as running:
        yield running


@pytest.fixture
def ada(world: Callers) -> Metadata:
    return world.metadata("smith", "ada")


async def grant(world: Callers, by: Metadata, matter: str, user: str, role: MatterRole) -> str:
    """The reason of the refusal; empty where it was granted."""
    request = request_of(method_named("GrantMatterAccess"), matter_id=matter, member={"user_id": user, "role": role})
    return (await world.call(method_named("GrantMatterAccess"), request, by)).reason


async def reason(world: Callers, name: str, by: Metadata, /, **fields: object) -> str:
    """The reason of the refusal; empty where the call was answered."""
    found = await world.call(method_named(name), request_of(method_named(name), **fields), by)
    return found.reason if found.code is not grpc.StatusCode.OK else ""


def of_matters() -> list[tuple[MethodDescriptor, MatterRole]]:
    rules = [(method, RULES[method.containing_service.name][method.name]) for method in METHODS]
    found = [(method, ROLES[rule.action]) for method, rule in rules if rule.action in ROLES]
    return sorted(found, key=lambda one: one[0].name == "DeleteMatter")


async def test_each_role_may_do_what_the_table_says(world: Callers, ada: Metadata) -> None:
    matter = await world.matter(ada, agreement=AGREEMENT)
    members = {MatterRole.READER: "rita", MatterRole.EDITOR: "ed", MatterRole.OWNER: "olga"}
    for role, user in members.items():
        assert not await grant(world, ada, matter, user, role)
    table = of_matters()
    assert len(table) > 20
    for method, needed in table:
        plain = {"name": "Name", "query": "{IS confidentiality clause}", "question": "What?", "filename": "a.md"}
        more = {"document_id": new_id(), "member_user_id": "zoe", "MatterMember.user_id": "zoe", "page": 1}
        request = filled(method.input_type, {**plain, **more, "matter_id": matter})
        for role, user in members.items():
            found = await world.call(method, request, world.metadata("smith", user))
            if role < needed:
                assert found.reason == "PERMISSION_DENIED", (method.name, role)
                assert role.name.lower() in found.message
                assert needed.name.lower() in found.message
            else:
                assert found.reason in ("", "DOCUMENT_NOT_FOUND"), (method.name, role, found.message)
    assert await reason(world, "GetMatter", ada, matter_id=matter) == "MATTER_NOT_FOUND"


async def test_a_matter_shows_the_callers_role(world: Callers, ada: Metadata) -> None:
    matter = await world.matter(ada)
    await grant(world, ada, matter, "rita", MatterRole.READER)
    for user, roles, role in (("ada", [], 3), ("rita", [], 1), ("root", ["admin"], 3)):
        metadata = world.metadata("smith", user, roles=roles)
        assert (await world.ask("GetMatter", metadata, matter_id=matter)).matter.role == role
        assert [listed.role for listed in (await world.ask("ListMatters", metadata)).matters] == [role]


async def test_the_last_owner_stays(world: Callers, ada: Metadata) -> None:
    matter = await world.matter(ada)
    for by in (ada, world.metadata("smith", "root", roles=["admin"])):
        assert await grant(world, by, matter, "ada", MatterRole.EDITOR) == "LAST_OWNER"
        assert await reason(world, "RevokeMatterAccess", by, matter_id=matter, member_user_id="ada") == "LAST_OWNER"
    assert not await grant(world, ada, matter, "bob", MatterRole.OWNER)
    assert not await grant(world, ada, matter, "ada", MatterRole.READER)
    assert await grant(world, ada, matter, "bob", MatterRole.READER) == "PERMISSION_DENIED"
    listed = await world.ask("ListMatterMembers", ada, matter_id=matter)
    assert [(member.user_id, member.role) for member in listed.members] == [("ada", 1), ("bob", 3)]


async def test_who_is_removed_sees_nothing_more_from_the_next_call_on(world: Callers, ada: Metadata) -> None:
    matter = await world.matter(ada, agreement=AGREEMENT)
    bob = world.metadata("smith", "bob")
    await grant(world, ada, matter, "bob", MatterRole.EDITOR)
    chat = {"session_id": "s", "message": "What is the fee?"}
    first = await world.ask("Chat", bob, matter_context={"matter_id": matter}, **chat)
    assert first[-1].final_state.context_problem == 0
    before = (await world.ask("GetSession", bob, session_id="s")).session
    assert before.matter_context.matter_id == matter

    assert not await reason(world, "RevokeMatterAccess", ada, matter_id=matter, member_user_id="bob")
    assert await reason(world, "GetMatter", bob, matter_id=matter) == "MATTER_NOT_FOUND"
    assert not (await world.ask("ListMatters", bob)).matters
    final = (await world.ask("Chat", bob, **chat))[-1].final_state
    never = await world.ask("Chat", bob, matter_context={"matter_id": new_id()}, message="What is the fee?")
    assert final.context_problem == never[-1].final_state.context_problem != 0
    assert not final.message.startswith("The fee")


async def test_a_call_that_was_approved_after_the_removal_reads_nothing(tmp_path: Path, models_dir: Path) -> None:
    script = [
        Step(calls=[Call("get_document_text", '{"filename": "agreement.md"}', "c-1")]),
        Step(["I could not read it."]),
    ]
    with needing_approval("get_document_text"):
        async with callers(tmp_path, models_dir, *script) as world:
            ada, bob = world.metadata("smith", "ada"), world.metadata("smith", "bob")
            matter = await world.matter(ada, agreement=AGREEMENT)
            await grant(world, ada, matter, "bob", MatterRole.READER)
            stub: Any = world.service.chat
            call = stub.Chat(
                request_of(method_named("Chat"), message="Read it", matter_context={"matter_id": matter}), metadata=bob
            )
            events = []
            async for event in call:
                events.append(event)
                if event.WhichOneof("event") == "approval_required":
                    assert not await reason(world, "RevokeMatterAccess", ada, matter_id=matter, member_user_id="bob")
                    decided = {"turn_id": event.turn_id, "call_id": "c-1", "decision": 1}
                    assert not await reason(world, "DecideToolCall", bob, **decided)
            (end,) = [event.tool_end for event in events if event.WhichOneof("event") == "tool_end"]
            assert end.error
            assert "USD" not in end.output
            assert "No matter" in end.error


async def test_an_administrator_sees_every_matter_of_the_tenant(world: Callers, ada: Metadata) -> None:
    matters = {await world.matter(ada), await world.matter(world.metadata("smith", "bob"))}
    await world.matter(world.metadata("jones", "ada"))
    root = world.metadata("smith", "root", roles=["admin"])
    assert {matter.matter_id for matter in (await world.ask("ListMatters", root)).matters} == matters
    for matter in matters:
        assert not await grant(world, root, matter, "root", MatterRole.READER)
        assert not await reason(world, "DeleteMatter", root, matter_id=matter)


@pytest.mark.parametrize("roles", [[], ["admin"]])
async def test_a_credential_for_some_matters_sees_only_these(world: Callers, ada: Metadata, roles: list[str]) -> None:
    one, other = await world.matter(ada, "One"), await world.matter(ada, "Other")
    confined = world.metadata("smith", "ada", roles=roles, matters=[one.upper()])
    assert [matter.matter_id for matter in (await world.ask("ListMatters", confined)).matters] == [one]
    assert not await reason(world, "GetMatter", confined, matter_id=one)
    assert await reason(world, "GetMatter", confined, matter_id=other) == "MATTER_NOT_FOUND"
    events = await world.ask("Chat", confined, matter_context={"matter_id": other}, message="What is the fee?")
    assert events[-1].final_state.context_problem != 0
    assert await reason(world, "CreateMatter", confined, name="New") == "PERMISSION_DENIED"


async def test_a_repeated_creation_tells_nothing_of_a_matter_that_is_not_the_callers_any_more(
    world: Callers, ada: Metadata
) -> None:
    made = await world.ask("CreateMatter", ada, name="Northwind", request_id="r")
    matter = made.matter.matter_id
    assert (await world.ask("CreateMatter", ada, name="Northwind", request_id="r")).matter.matter_id == matter
    await grant(world, ada, matter, "bob", MatterRole.OWNER)
    bob = world.metadata("smith", "bob")
    assert not await reason(world, "RevokeMatterAccess", bob, matter_id=matter, member_user_id="ada")
    assert await reason(world, "CreateMatter", ada, name="Northwind", request_id="r") == "MATTER_NOT_FOUND"


async def test_only_administrators_write_the_documentation(world: Callers, ada: Metadata) -> None:
    root = world.metadata("smith", "root", roles=["admin"])
    header = pb.UploadHeader(matter_id="documentation", filename="guide.md")
    upload = method_named("UploadDocument")
    refused = await world.call(upload, pb.UploadDocumentRequest(header=header), ada)
    assert refused.reason == "PERMISSION_DENIED"
    stored = await world.upload(root, "documentation", "guide.md", b"# Guide\n\nAsk the partner.")
    assert (await world.ask("ListDocuments", ada, matter_id="documentation")).documents[0].filename == "guide.md"
    assert not (await world.ask("ListDocuments", world.metadata("jones", "ada"), matter_id="documentation")).documents
    named = {"matter_id": "documentation", "document_id": stored.document_id}
    assert await reason(world, "DeleteDocument", ada, **named) == "PERMISSION_DENIED"
    assert not await reason(world, "DeleteDocument", root, **named)
