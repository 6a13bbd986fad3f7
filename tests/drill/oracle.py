"""What has to be so, found out from what readers saw and from what is there at the end, without the service's code."""

import asyncio
from collections.abc import AsyncIterator, Iterator

from proviso_client import AsyncClient
from proviso_client.errors import NotFound
from proviso_client.v1 import chat_pb2, matters_pb2, sessions_pb2, turns_pb2
from tests.drill.deployment import Deployment
from tests.drill.ledger import Ledger, Question, Seen, digest_of
from tests.support.s3_server import PREFIX

SETTLING_S = 120.0
"""Within so long everything that was deleted, and what killed uploads have left, is gone."""


def check_turn(question: Question, stored: chat_pb2.GetTurnResponse, *, redis_was_lost: bool) -> Iterator[str]:
    """What is wrong with a turn that has ended. Only where Redis was lost meanwhile may a reader be told that it missed
    events, and gets the end alone."""
    final = question.final
    assert final is not None
    if len(question.turn_ids) > 1:
        yield f"one request began several turns: {question.turn_ids}"
    if final.exit_reason != turns_pb2.EXIT_REASON_COMPLETED:
        name, cause = turns_pb2.ExitReason.Name(final.exit_reason), turns_pb2.ExitCause.Name(final.exit_cause)
        yield f"ended in {name}, {cause}: {final.message!r}"
    elif final.message.strip() != question.answer.strip():
        yield f"the answer is not the model's: {final.message!r}"
    if stored.final_state != final:
        yield "the stored final state is another one"
    for seen in question.seen:
        for fault in _check_reading(seen, final, stored.last_sequence, may_miss=redis_was_lost):
            yield f"{seen.reader}: {fault}"
        for event in seen.events:
            if event.WhichOneof("event") == "tool_end" and event.tool_end.tool.endswith("note"):
                question.note_error = event.tool_end.error


def _check_reading(seen: Seen, final: chat_pb2.FinalState, last_sequence: int, *, may_miss: bool) -> Iterator[str]:
    kinds = [event.WhichOneof("event") for event in seen.events]
    if kinds.count("final_state") != 1 or kinds[-1] != "final_state":
        yield f"no single final state at the end, but {kinds}"
        return
    if seen.events[-1].final_state != final:
        yield "saw another final state"
    if seen.events[-1].sequence != last_sequence:
        yield f"ended at {seen.events[-1].sequence}, and {last_sequence} is stored"
    following = 1
    for event in seen.events[: -1 if seen.missed and may_miss else None]:
        first = event.token.first_sequence if event.WhichOneof("event") == "token" else event.sequence
        if first != following:
            yield f"{first} came after {following - 1}"
        following = event.sequence + 1
    discarded = {one.text_discarded.text_id for one in seen.events if one.WhichOneof("event") == "text_discarded"}
    tokens = [one.token for one in seen.events if one.WhichOneof("event") == "token"]
    text = "".join(token.text for token in tokens if token.text_id not in discarded)
    if seen.missed or (final.from_cache and not text):
        return  # a reply from the cache has no tokens: its turn was taken over once the model had given it
    if final.exit_reason == turns_pb2.EXIT_REASON_COMPLETED and text.strip() != final.message.strip():
        yield f"the tokens make {text!r}, and the message is {final.message!r}"


async def check_all(ledger: Ledger, deployment: Deployment, client: AsyncClient) -> None:
    """Everything that is there at the end. Called when nothing is asked for any more."""
    checks = [_effects(ledger), _turns(ledger, client), _documents(ledger, client), _bytes(ledger, deployment, client)]
    for found in checks:
        async for fault in found:
            ledger.fault(fault)


async def _effects(ledger: Ledger) -> AsyncIterator[str]:
    """Effects of the tool `note`: at most one, none where it was denied, and one where it said so."""
    for question in ledger.questions:
        if question.effects is None:
            continue
        effects = len(question.effects.read_text()) if question.effects.exists() else 0
        ledger.counts["effects of MCP tools"] += effects
        ledger.counts["outcomes unknown"] += (question.note_error or "").startswith("Outcome unknown")
        ledger.counts["other failed MCP calls"] += bool(question.note_error) and not question.is_denied
        if effects > int(not question.is_denied):
            yield f"turn {question.turn_id}: {effects} effects of `note`, denied: {question.is_denied}"
        if question.note_error == "" and effects != 1:
            yield f"turn {question.turn_id}: `note` succeeded with {effects} effects"


async def _turns(ledger: Ledger, client: AsyncClient) -> AsyncIterator[str]:
    """Each turn as it is stored at the end, and its messages in its session."""
    roles: dict[str, list[int]] = {}
    for session_id in dict.fromkeys(question.session_id for question in ledger.questions):
        async for message in client.sessions.messages(session_id):
            roles.setdefault(message.turn_id, []).append(message.role)
    for question in ledger.questions:
        if question.final is None:
            continue  # told already
        stored = await client.get_turn(question.turn_id)
        if stored.final_state != question.final:
            yield f"turn {question.turn_id}: the final state has changed"
        of_turn = roles.get(question.turn_id, [])
        is_whole = of_turn.count(sessions_pb2.MESSAGE_ROLE_USER) == of_turn.count(sessions_pb2.MESSAGE_ROLE_ASSISTANT)
        if not is_whole or of_turn.count(sessions_pb2.MESSAGE_ROLE_USER) != 1:
            yield f"turn {question.turn_id}: its session has the messages {of_turn}"
    ledger.counts["turns compared"] = sum(question.final is not None for question in ledger.questions)


async def _documents(ledger: Ledger, client: AsyncClient) -> AsyncIterator[str]:
    for matter_id in sorted(ledger.matters):
        try:
            if matter_id not in ledger.gone_matters:
                async with asyncio.timeout(SETTLING_S):
                    await _ended(client, matter_id)
            listed = {one.document_id: one async for one in client.documents.list(matter_id)}
        except NotFound:
            if matter_id not in ledger.gone_matters:
                yield f"matter {matter_id} is missing"
            continue
        except TimeoutError:
            yield f"matter {matter_id}: documents under way for {SETTLING_S:g} s"
            continue
        if matter_id in ledger.gone_matters:
            yield f"matter {matter_id} is deleted, and there"
            continue
        kept = ledger.kept(matter_id)
        for document_id in kept.keys() ^ listed.keys():
            yield f"document {document_id} of {matter_id}: kept {document_id in kept}, there {document_id in listed}"
        for document_id in kept.keys() & listed.keys():
            document = listed[document_id]
            if document.status != matters_pb2.DOCUMENT_STATUS_READY:
                status = matters_pb2.DocumentStatus.Name(document.status)
                yield f"document {document_id} of {matter_id} is {status}: {document.failure_reason}"
            content = b"".join([piece.data async for piece in client.documents.content(matter_id, document_id)])
            if digest_of(content) != kept[document_id]:
                yield f"document {document_id} of {matter_id} has other bytes"
            ledger.count("documents READY with their bytes")


async def _ended(client: AsyncClient, matter_id: str) -> None:
    """Returns once no document of the matter is under way, with success or without."""
    final = (matters_pb2.DOCUMENT_STATUS_READY, matters_pb2.DOCUMENT_STATUS_FAILED)
    while not all([one.status in final async for one in client.documents.list(matter_id)]):  # noqa: ASYNC110
        await asyncio.sleep(0.5)


async def _bytes(ledger: Ledger, deployment: Deployment, client: AsyncClient) -> AsyncIterator[str]:
    """The bucket holds the bytes of the documents that are kept, and nothing else, once all has settled."""
    wanted = {f"{PREFIX}/local/{one}" for matter in ledger.matters - ledger.gone_matters for one in ledger.kept(matter)}
    try:
        async with asyncio.timeout(SETTLING_S):
            while set(await asyncio.to_thread(deployment.bucket.objects)) != wanted:  # noqa: ASYNC110
                await asyncio.sleep(1)
    except TimeoutError:
        there = set(await asyncio.to_thread(deployment.bucket.objects))
        yield f"bytes without a document: {sorted(there - wanted)}; documents without bytes: {sorted(wanted - there)}"
    if unfinished := await asyncio.to_thread(deployment.bucket.unfinished_uploads):
        yield f"{unfinished} unfinished uploads in parts"
    for deletion_id in ledger.deletions:
        try:
            async with asyncio.timeout(SETTLING_S):
                while not (await client.get_deletion(deletion_id)).HasField("complete_time"):  # noqa: ASYNC110
                    await asyncio.sleep(0.5)
        except TimeoutError:
            yield f"deletion {deletion_id} is not complete"
    ledger.counts["complete deletions"] = len(ledger.deletions)
    ledger.counts["objects in the bucket"] = len(wanted)
