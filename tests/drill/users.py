"""The users of the drill: people who chat, and people who upload and delete. They use the project's own client."""

import asyncio
import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from proviso_client import AsyncClient, AsyncTurn, ProvisoError, RetryPolicy
from proviso_client.errors import FailedPrecondition, NotFound
from proviso_client.steps import ApprovalRequired
from proviso_client.v1 import matters_pb2
from tests.drill.deployment import NOTES
from tests.drill.ledger import Ledger, Question, Seen, digest_of
from tests.drill.oracle import check_turn

PATIENT = RetryPolicy(max_attempts=10_000, first_wait_s=0.1, longest_wait_s=2.0, give_up_after_s=240.0)
CALL_S = 120.0
"""The time limit of a call: nothing hangs for so long."""

TURNS_OF_SESSION = 3
UPLOADS_PAUSE_S = 2.0
WORDS = ("rent", "notice", "deposit", "insurance", "fee", "law", "term", "breach", "party", "cure")


@dataclass
class Users:
    """`clients` are connections to Envoy, which all share; `stable` are matters that nobody deletes."""

    clients: list[AsyncClient]
    ledger: Ledger
    chance: random.Random
    notes: Path
    stable: list[str]
    stopping: asyncio.Event

    def client(self) -> AsyncClient:
        return self.chance.choice(self.clients)

    async def chat(self, number: int) -> None:
        """One person: sessions of some turns each, until the drill is over."""
        await self.pause(self.chance.uniform(0, 10))
        turns = 0
        while not self.stopping.is_set():
            session = f"session-{number}-{turns // TURNS_OF_SESSION}"
            turns += 1
            question = self.question(session)
            self.ledger.questions.append(question)
            self.ledger.count("turns begun")
            try:
                await self.ask(question)
            except ProvisoError as error:
                self.ledger.fault(f"turn {question.turn_id or question.request_id}: the client gave up: {error!r}")
            self.ledger.count("turns ended")
            await self.pause(self.chance.uniform(0, 2))

    async def pause(self, seconds: float) -> None:
        """Waits, but not longer than until the drill is over."""
        waiting = asyncio.create_task(self.stopping.wait())
        await asyncio.wait([waiting], timeout=seconds)
        waiting.cancel()

    def question(self, session_id: str) -> Question:
        chance = self.chance
        mark = f"{chance.getrandbits(48):012x}"
        word = f"{chance.choice(WORDS)} {mark[:4]} "
        last = {"tokens": [word], "repeat": chance.randint(5, 25), "pause_ms": chance.randint(100, 1_500)}
        steps: list[dict[str, Any]] = []
        if chance.random() < 0.4:
            wanted = chance.choice(({"name": "list_matter_documents"}, _search(word)))
            thinking = {"tokens": ["Let me look. "], "repeat": chance.randint(1, 4), "pause_ms": 500}
            steps.append(thinking | {"calls": [wanted]})
        effects = self.notes / mark if chance.random() < 0.5 else None
        if effects:
            gate = effects.with_suffix(".gate")
            steps.append({"calls": [{"name": f"{NOTES}__note", "args": {"called": str(effects), "gate": str(gate)}}]})
        request_id = str(UUID(int=chance.getrandbits(128), version=4))
        message = json.dumps({"steps": [*steps, last]})
        answer = word * int(last["repeat"])  # type: ignore[call-overload]
        return Question(session_id, request_id, message, answer, effects, bool(effects) and chance.random() < 0.1)

    async def ask(self, question: Question) -> None:
        """The turn with all its readers, and what the oracle says of it."""
        fields: Any = {"session_id": question.session_id, "request_id": question.request_id}
        fields["matter_id"] = self.chance.choice(self.stable)
        first = self.read(question, "the asker", self.client().chat(question.message, **fields), is_asker=True)
        readers = [asyncio.create_task(first)]
        if self.chance.random() < 0.2:
            again = self.client().chat(question.message, **fields)
            readers.append(asyncio.create_task(self.later(self.read(question, "the same request again", again))))
        try:
            async with asyncio.timeout(600):
                await asyncio.gather(*readers)
                if self.chance.random() < 0.3:
                    await self.read(question, "a reader after the end", self.client().resume(question.turn_id))
        except TimeoutError:
            self.ledger.fault(f"turn {question.turn_id} did not end within 600 s")
        finally:
            for reader in readers:
                reader.cancel()
            await asyncio.gather(*readers, return_exceptions=True)
        if question.final is not None:
            stored = await self.client().get_turn(question.turn_id, timeout_s=CALL_S)
            redis_was_lost = question.begun_s < self.ledger.redis_lost_until_s
            for fault in check_turn(question, stored, redis_was_lost=redis_was_lost):
                self.ledger.fault(f"turn {question.turn_id}: {fault}")
            self.ledger.counts["readers"] += len(question.seen)
            self.ledger.counts["readers told that they missed events"] += sum(one.missed for one in question.seen)
            self.ledger.counts["answers from the cache"] += question.final.from_cache
            question.seen.clear()

    async def later(self, reading: Any) -> None:
        await asyncio.sleep(self.chance.uniform(0.5, 5))
        await reading

    async def read(self, question: Question, reader: str, turn: AsyncTurn, *, is_asker: bool = False) -> None:
        """Reads the turn to its end, in parts: now and then the reader leaves, and comes back by another connection."""
        seen = Seen(reader)
        question.seen.append(seen)
        while turn.final is None:
            leaves_at = self.chance.choice((None, None, self.chance.randint(2, 12)))
            async for step in turn:
                assert turn.last_event is not None
                seen.events.append(turn.last_event)
                question.turn_ids.add(turn.turn_id)
                seen.missed |= turn.events_missed
                if is_asker and isinstance(step, ApprovalRequired):
                    await self.decide(question, turn.turn_id, step.call_id)
                if leaves_at is not None and turn.sequence >= leaves_at and turn.final is None:
                    break
            if turn.final is None:
                self.ledger.count("readers that left and came back")
                await turn.close()
                turn = self.client().resume(turn.turn_id, turn.sequence)
        question.final = question.final or turn.final

    async def decide(self, question: Question, turn_id: str, call_id: str) -> None:
        """What the person decides, after some thought; the tool then works a little."""
        await asyncio.sleep(self.chance.uniform(0, 4))
        assert question.effects is not None
        gate = question.effects.with_suffix(".gate")
        asyncio.get_running_loop().call_later(self.chance.choice((0, 0, 0.5)), gate.touch)
        decision = f"TOOL_CALL_DECISION_{'DENY' if question.is_denied else 'APPROVE_ONCE'}"
        while True:
            try:
                await self.client().decide(turn_id, call_id, decision, timeout_s=CALL_S)
            except FailedPrecondition:
                return self.ledger.count("decisions that were there already")  # the first try's answer was lost
            except NotFound as error:
                if error.reason != "TURN_EXPIRED":
                    raise
                await asyncio.sleep(1)  # until another process has the turn
            else:
                return self.ledger.count("decisions")

    async def keep_documents(self) -> None:
        """One person who makes matters, uploads, and deletes some of it, until the drill is over."""
        while not self.stopping.is_set():
            try:
                await self.go_through_a_matter()
            except ProvisoError as error:
                self.ledger.fault(f"documents: the client gave up: {error!r}")

    async def go_through_a_matter(self) -> None:
        client = self.client()
        matter_id = (await client.matters.create("Drill", timeout_s=CALL_S)).matter_id
        self.ledger.matters.add(matter_id)
        uploaded = []
        for number in range(self.chance.randint(1, 3)):
            uploaded.append(await self.upload(matter_id, f"memo {number}.md"))
            await self.pause(UPLOADS_PAUSE_S)
        fate = self.chance.random()
        if fate < 0.3:
            await self.delete_document(matter_id, self.chance.choice(uploaded))
        elif fate < 0.5:
            await self.delete_matter(matter_id)
        elif fate < 0.7:
            await client.documents.wait_until_ready(matter_id, timeout_s=300)

    async def upload(self, matter_id: str, filename: str) -> str:
        paragraphs = (
            f"The {self.chance.choice(WORDS)} is USD {self.chance.getrandbits(32)}, payable in {self.chance.random()}."
            for _ in range(self.chance.randint(3, 40))
        )
        content = f"# Memo {self.chance.random()}\n\n".encode() + "\n\n".join(paragraphs).encode()
        answer = await self.client().documents.upload(matter_id, content, filename=filename, timeout_s=CALL_S)
        document_id = answer.document.document_id
        self.ledger.documents[document_id] = (matter_id, digest_of(content))
        self.ledger.count("documents uploaded")
        return document_id

    async def delete_document(self, matter_id: str, document_id: str) -> None:
        await self.until_gone(self.client().documents, matter_id, document_id)
        self.ledger.gone_documents.add(document_id)
        self.ledger.count("documents deleted")

    async def delete_matter(self, matter_id: str) -> None:
        await self.until_gone(self.client().matters, matter_id)
        self.ledger.gone_matters.add(matter_id)
        self.ledger.gone_documents |= set(self.ledger.kept(matter_id))
        self.ledger.count("matters deleted")

    async def until_gone(self, of: Any, *ids: str) -> None:
        """Deletes; again where the answer was lost, which the client does not do by itself."""
        async with asyncio.timeout(CALL_S * 2):
            while True:
                try:
                    deletion_id = await of.delete(*ids, timeout_s=CALL_S)
                except NotFound:
                    return None
                except ProvisoError:
                    self.ledger.count("deletions asked for again")
                    await asyncio.sleep(0.5)
                else:
                    return self.ledger.deletions.add(deletion_id)


def _search(word: str) -> dict[str, Any]:
    return {"name": "isaacus_search", "args": {"query": f"What about the {word}?"}}


async def stable_matters(client: AsyncClient, ledger: Ledger, count: int) -> list[str]:
    """Matters with a document that is READY, which turns are about."""
    made = []
    for number in range(count):
        matter_id = (await client.matters.create(f"Stable {number}", timeout_s=CALL_S)).matter_id
        content = f"# Lease {number}\n\nThe rent is USD {900 + number}.".encode()
        answer = await client.documents.upload(matter_id, content, filename="lease.md", timeout_s=CALL_S)
        ledger.matters.add(matter_id)
        ledger.documents[answer.document.document_id] = (matter_id, digest_of(content))
        [document] = await client.documents.wait_until_ready(matter_id)
        assert document.status == matters_pb2.DOCUMENT_STATUS_READY
        made.append(matter_id)
    return made
