"""A client that writes down what a service has acknowledged, and compares it with what is there later."""

import asyncio
import itertools
import random
import sqlite3
from collections.abc import Callable, Collection
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import grpc

from proviso_client.v1 import chat_pb2, matters_pb2
from proviso_client.v1.matters_pb2 import MATTER_ROLE_READER
from proviso_service.access import ApiKey
from proviso_service.backends.sql.access import SqlApiKeyStore
from proviso_service.backends.sql.database import utc_now
from tests.support.running import ServiceStubs, chat_request, final_of

READER = "bob"


@dataclass
class Ledger:
    """What was acknowledged. Of what is in `doubtful` a deletion was asked for that nobody acknowledged."""

    matters: dict[str, str] = field(default_factory=dict)
    documents: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    turns: dict[str, str] = field(default_factory=dict)
    members: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    doubtful: set[str] = field(default_factory=set)
    acknowledged: int = 0

    def there(self, ids: Collection[str]) -> list[str]:
        """Those of the ids whose things have to be there."""
        return [one for one in ids if one not in self.gone | self.doubtful]


class Client:
    """Does everything that is kept, several at a time, until it is told that `enough` was acknowledged."""

    def __init__(self, ledger: Ledger, service: ServiceStubs, keys: SqlApiKeyStore, chance: random.Random) -> None:
        self._ledger = ledger
        self._service = service
        self._keys = keys
        self._chance = chance
        self._left = 0
        self._enough = asyncio.Event()

    async def work_until(self, acknowledged: int, kill: Callable[[], None]) -> None:
        """Calls `kill`, in the midst of other calls, once so many acts were acknowledged. Raises what a call failed
        with before that."""
        self._left = acknowledged
        workers = [asyncio.create_task(self._work()) for _ in range(4)]
        enough = asyncio.create_task(self._enough.wait())
        done, _ = await asyncio.wait([enough, *workers], return_when=asyncio.FIRST_COMPLETED)
        kill()
        for worker in done - {enough}:
            worker.result()
        await asyncio.wait(workers)

    def _acknowledged(self) -> None:
        self._ledger.acknowledged += 1
        self._left -= 1
        if not self._left:
            self._enough.set()

    async def _work(self) -> None:
        try:
            for number in itertools.count():
                await self._go_through(number)
        except grpc.aio.AioRpcError:
            if not self._enough.is_set():
                raise

    async def _go_through(self, number: int) -> None:
        """One matter from its beginning, now and then to its end."""
        ledger, stubs = self._ledger, self._service
        matter = (await stubs.matters.CreateMatter(matters_pb2.CreateMatterRequest(name="M"))).matter
        ledger.matters[matter.matter_id] = matter.name
        self._acknowledged()
        content = f"# Memo {self._chance.random()}\n\nThe fee is USD 5.".encode()
        document = await stubs.upload(matter.matter_id, "memo.md", content)
        ledger.documents[document.document_id] = (matter.matter_id, content)
        self._acknowledged()
        reader = matters_pb2.MatterMember(user_id=READER, role=MATTER_ROLE_READER)
        await stubs.matters.GrantMatterAccess(
            matters_pb2.GrantMatterAccessRequest(matter_id=matter.matter_id, member=reader)
        )
        ledger.members.add(matter.matter_id)
        self._acknowledged()
        events = [event async for event in stubs.chat.Chat(chat_request("What is the fee?", matter.matter_id))]
        ledger.turns[events[0].turn_id] = final_of(events).message
        self._acknowledged()
        key_id = f"{self._chance.getrandbits(64):016x}"
        await self._keys.add(ApiKey(key_id, "local", "k", frozenset(), b"", utc_now()))
        ledger.keys.add(key_id)
        self._acknowledged()
        if number % 3 == 0:
            await self._delete_document(matter.matter_id, document.document_id)
        elif number % 3 == 1:
            await self._delete_matter(matter.matter_id, document.document_id)

    async def _delete_document(self, matter_id: str, document_id: str) -> None:
        self._ledger.doubtful.add(document_id)
        request = matters_pb2.DeleteDocumentRequest(matter_id=matter_id, document_id=document_id)
        await self._service.matters.DeleteDocument(request)
        self._ledger.gone.add(document_id)
        self._acknowledged()

    async def _delete_matter(self, matter_id: str, document_id: str) -> None:
        self._ledger.doubtful |= {matter_id, document_id}
        await self._service.matters.DeleteMatter(matters_pb2.DeleteMatterRequest(matter_id=matter_id))
        self._ledger.gone |= {matter_id, document_id}
        self._acknowledged()


async def missing(ledger: Ledger, service: ServiceStubs, keys: SqlApiKeyStore) -> list[str]:
    """What was acknowledged and is not there, and what is there although its deletion was acknowledged."""
    wrong = []
    listed = {matter_id for matter_id in ledger.matters if await _is_there(service, matter_id)}
    wrong += [f"matter {one}" for one in ledger.there(ledger.matters) if one not in listed]
    wrong += [f"deleted matter {one}" for one in listed & ledger.gone]
    for document_id in ledger.there(ledger.documents):
        matter_id, content = ledger.documents[document_id]
        request = matters_pb2.GetDocumentContentRequest(matter_id=matter_id, document_id=document_id)
        found = b"".join([answer.data async for answer in service.matters.GetDocumentContent(request)])
        wrong += [f"bytes of {document_id}"] * (found != content)
    for matter_id in ledger.there(ledger.members):
        members = await service.matters.ListMatterMembers(matters_pb2.ListMatterMembersRequest(matter_id=matter_id))
        wrong += [f"member of {matter_id}"] * (READER not in {member.user_id for member in members.members})
    for turn_id, message in ledger.turns.items():
        turn = await service.chat.GetTurn(chat_pb2.GetTurnRequest(turn_id=turn_id))
        wrong += [f"turn {turn_id}"] * (turn.final_state.message != message)
    known = {key.key_id for key in await keys.all()}
    return wrong + [f"key {key_id}" for key_id in ledger.keys - known]


async def _is_there(service: ServiceStubs, matter_id: str) -> bool:
    try:
        await service.matters.GetMatter(matters_pb2.GetMatterRequest(matter_id=matter_id))
    except grpc.aio.AioRpcError as error:
        if error.code() is not grpc.StatusCode.NOT_FOUND:
            raise
        return False
    return True


def halves(state: Path) -> list[str]:
    """Acts without their event and events without their act, in the state of a service that was killed."""
    with closing(sqlite3.connect(state)) as connection:

        def ids(query: str) -> set[str]:
            return {row[0] for row in connection.execute(query)}

        def told(action: str, resource: str) -> set[str]:
            where = f"action = '{action}' AND resource = '{resource}' AND outcome = 'done'"
            return ids(f"SELECT resource_id FROM audit_events WHERE {where}")  # noqa: S608

        deleted, cleared = told("delete", "matter"), told("clear", "matter")
        here = "matter_id NOT IN (SELECT resource_id FROM audit_events WHERE action = 'delete' AND resource = 'matter')"
        uploaded = ids(f"SELECT resource_id FROM audit_events WHERE action = 'upload' AND {here}")  # noqa: S608
        pairs = {
            "matters": (ids("SELECT matter_id FROM matters"), told("create", "matter") - cleared),
            "deleted matters": (ids("SELECT matter_id FROM matters WHERE deleted"), deleted - cleared),
            "documents": (
                ids(f"SELECT document_id FROM documents WHERE {here}"),  # noqa: S608
                uploaded - told("delete", "document"),
            ),
            "members": (
                ids(f"SELECT matter_id FROM matter_members WHERE user_id = '{READER}' AND {here}"),  # noqa: S608
                ids(f"SELECT matter_id FROM audit_events WHERE resource_id = '{READER}' AND {here}"),  # noqa: S608
            ),
            "turns": (ids("SELECT turn_id FROM turns"), told("ask", "turn")),
            "keys": (ids("SELECT key_id FROM api_keys"), told("create", "api_key")),
        }
        return [f"{name}: {rows ^ events}" for name, (rows, events) in pairs.items() if rows != events]
