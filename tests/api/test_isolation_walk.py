"""What is not the caller's answers as what does not exist: every method of the contract, with the ids of another tenant
and of another user of the same tenant, and with ids that nobody has."""

import re
import sqlite3
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import grpc
import pytest
from google.protobuf.descriptor import MethodDescriptor

from tests.support.access_world import METHODS, Callers, Metadata, Outcome, callers, filled
from tests.support.running import AGREEMENT, new_id
from tests.support.scripted_model import Step

pytestmark = pytest.mark.timeout(300)

NOT_THEIRS = frozenset({"ListContextItems", "ListIqlTemplates"})
"""Lists that are the same for everybody, and so are their page tokens."""

PLAIN = {
    "message": "What is the fee?",
    "name": "Any name",
    "notes": "Any notes",
    "filename": "any.md",
    "query": "{IS confidentiality clause}",
    "question": "What is the fee?",
    "clause_types": "confidentiality",
    "call_id": "call-1",
    "member_user_id": "carl",
    "MatterMember.user_id": "carl",
    "ListMattersRequest.name": "",
    "SetLegalHoldRequest.reason": "Any reason",
    "ContextItemRef.name": "Jurisdictions",
    "page": 1,
}


@dataclass(frozen=True)
class Ids:
    """The ids of what somebody has, or nobody."""

    matter_id: str
    document_id: str
    session_id: str
    turn_id: str
    deletion_id: str
    request_id: str
    page_tokens: Mapping[str, str]

    def values(self, method: MethodDescriptor, matter_id: str) -> dict[str, object]:
        ids = {
            "matter_id": matter_id,
            "document_id": self.document_id,
            "document_ids": self.document_id,
            "session_id": self.session_id,
            "turn_id": self.turn_id,
            "deletion_id": self.deletion_id,
            "request_id": self.request_id,
            "page_token": "" if method.name in NOT_THEIRS else self.page_tokens.get(method.name, ""),
        }
        return {**PLAIN, **ids}

    def hidden(self, found: Outcome, method: MethodDescriptor) -> Outcome:
        """The outcome without the ids, which it may repeat. How many states of a rebuilding a caller sees before the
        last depends on the time."""
        answers = found.answers[-1:] if method.name == "RebuildIndex" else found.answers
        own = [self.matter_id, self.document_id, self.session_id, self.turn_id, self.deletion_id, self.request_id]
        named = re.compile("|".join(map(re.escape, own)))
        return replace(
            found,
            message=named.sub("ID", found.message),
            details={kind: named.sub("ID", text) for kind, text in found.details.items()},
            answers=tuple(named.sub("ID", text) for text in answers),
        )


@dataclass(frozen=True)
class World:
    callers: Callers
    data: Path
    owner: Ids
    nobody: Ids

    def rows(self) -> set[tuple[object, ...]]:
        """All rows of all tables that have a tenant."""
        with closing(sqlite3.connect(self.data / "state.sqlite3")) as state:
            tables = [name for (name,) in state.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            found = set()
            for table in tables:
                columns = [row[1] for row in state.execute(f"PRAGMA table_info('{table}')")]
                if "tenant" in columns:
                    found |= {(table, *row) for row in state.execute(f"SELECT * FROM {table}")}  # noqa: S608
            return found


@pytest.fixture
async def world(tmp_path: Path, models_dir: Path) -> AsyncIterator[World]:
    script = [Step([f"The fee is not known to me, {number}."]) for number in range(300)]
    async with callers(tmp_path, models_dir, *script) as running:
        owner = await owned(running, running.metadata("smith", "ada"))
        tokens = dict.fromkeys(owner.page_tokens, "AAAA")
        turn_id = uuid.uuid4().hex[: len(owner.turn_id)]
        nobody = Ids(new_id(), new_id(), "s-nobody", turn_id, new_id(), "r-nobody", tokens)
        if "-" in owner.turn_id:
            nobody = replace(nobody, turn_id=new_id())
        yield World(running, tmp_path / "data", owner, nobody)


async def owned(running: Callers, ada: Metadata) -> Ids:
    """Two of everything, so that lists have a second page."""
    await running.ask("CreateMatter", ada, name="Any name", request_id="r-owner")
    matter = await running.matter(ada, agreement=AGREEMENT, second=AGREEMENT + "\nMore.")
    for session in ("s-owner", "s-other"):
        await running.ask("CreateSession", ada, session_id=session)
    await running.ask("GrantMatterAccess", ada, matter_id=matter, member={"user_id": "dora", "role": 1})
    turn_id = ""
    for request_id in ("r-owner", "r-other"):
        fields = {"message": "What is the fee?", "session_id": "s-owner", "request_id": request_id}
        events = await running.ask("Chat", ada, matter_context={"matter_id": matter}, **fields)
        turn_id = events[0].turn_id
    for number in range(2):
        document = await running.upload(ada, matter, f"{number}.md", f"Gone {number}".encode())
        deleted = await running.ask("DeleteDocument", ada, matter_id=matter, document_id=document.document_id)
    listed = await running.ask("ListDocuments", ada, matter_id=matter, page_size=1)
    tokens = {"ListDocuments": listed.next_page_token}
    for name, fields in {
        "ListMatters": {},
        "ListSessions": {},
        "ListDeletions": {"matter_id": matter},
        "ListMessages": {"session_id": "s-owner"},
        "ListMatterMembers": {"matter_id": matter},
        "ListMatterDocuments": {"matter_id": matter},
    }.items():
        answer = await running.ask(name, ada, page_size=1, **fields)
        tokens[name] = answer.next_page_token
    assert all(tokens.values())
    document_id = listed.documents[0].document_id
    return Ids(matter, document_id, "s-owner", turn_id, deleted.deletion_id, "r-owner", tokens)


STRANGERS: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "the same name in another tenant": ("jones", "ada", ()),
    "an administrator of another tenant": ("jones", "root", ("admin", "auditor", "operator", "act_for_users")),
    "another user of the tenant": ("smith", "bob", ()),
}


WALKED = [method for method in METHODS if method.name != "ListAuditEvents"]
"""The audit tells its tenant of each call of the walk before, so that no two of its answers are equal;
tests/test_recorded_acts.py shows that no other tenant reads it."""


@pytest.mark.parametrize("stranger", STRANGERS.values(), ids=STRANGERS)
async def test_what_is_not_the_callers_answers_as_what_does_not_exist(
    world: World, stranger: tuple[str, str, tuple[str, ...]]
) -> None:
    tenant, user, roles = stranger
    metadata = world.callers.metadata(tenant, user, roles=list(roles))
    own = await world.callers.matter(metadata, "Own")
    before = world.rows()
    compared = 0
    for method in WALKED:
        for matters in ((world.owner.matter_id, world.nobody.matter_id), (own, own)):
            found = []
            for ids, matter_id in zip((world.owner, world.nobody), matters, strict=True):
                if method.name in ("DeleteMatter", "ExportMatter", "UploadDocument") and matter_id == own:
                    continue  # nothing in the request is anybody else's
                request = filled(method.input_type, ids.values(method, matter_id))
                found.append(ids.hidden(await world.callers.call(method, request, metadata), method))
            if found:
                assert found[0] == found[1], method.name
                assert found[0].code is not grpc.StatusCode.INTERNAL
                compared += 1
    assert compared == 2 * len(WALKED) - 3
    print(f"counted {len(WALKED)} methods, {2 * compared} calls as {tenant}/{user}")
    # Receipts are completed by the service itself.
    owners = {row for row in before if ("ada" in row or world.owner.matter_id in row) and row[0] != "deletions"}
    assert len(owners) > 10
    assert owners <= world.rows()


async def test_the_walk_finds_what_the_owner_has(world: World) -> None:
    """The same requests answer their owner otherwise than ids that nobody has: the walk would notice."""
    metadata = world.callers.metadata("smith", "ada")
    differing = set()
    for method in sorted(WALKED, key=lambda one: ("Delete" in one.name, one.name == "DeleteMatter")):
        nobody = replace(world.nobody, session_id=new_id(), request_id=new_id())
        found = [
            ids.hidden(
                await world.callers.call(
                    method, filled(method.input_type, ids.values(method, ids.matter_id)), metadata
                ),
                method,
            )
            for ids in (world.owner, nobody)
        ]
        if found[0] != found[1]:
            differing.add(method.name)
    same = {method.name for method in WALKED} - differing
    assert same == {
        "CreateMatter",
        "ListContextItems",
        "GetContextItem",
        "ListToolServers",
        "ReloadCatalog",
        "ListIqlTemplates",
        "RetrieveDocumentation",
        "GetCaller",
        "GetUsage",
        "RebuildIndex",
        "ListRatings",
        "ListJobs",
        "RetryJob",
        "CancelJob",
    }
