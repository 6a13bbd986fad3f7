"""The metadata `proviso-matter` of either Python client: a proxy may send all calls about a matter to one replica."""

# ruff: noqa: N802  methods have the names of the contract

from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message

from proviso_client import RetryPolicy
from proviso_client._requests import matter_metadata
from proviso_client.v1 import chat_pb2, context_pb2, matters_pb2, tools_pb2
from proviso_client.v1.chat_pb2_grpc import ChatServiceServicer, add_ChatServiceServicer_to_server
from proviso_client.v1.matters_pb2_grpc import MatterServiceServicer, add_MatterServiceServicer_to_server
from tests.support.client_kinds import Connect
from tests.support.grpc_servers import serving

MATTER = "7d444840-9dc0-11d1-b245-5ffdce74fad2"
TURN = "11111111-1111-4111-8111-111111111111"
QUICK = RetryPolicy(max_attempts=4, first_wait_s=0.001, longest_wait_s=0.002)


class Recorder:
    """Notes which matter each call names."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, ...]] = []

    def note(self, method: str, context: Any) -> None:
        named = [value for key, value in context.invocation_metadata() if key == "proviso-matter"]
        self.seen.append((method, *named))


class Chats(Recorder, ChatServiceServicer):
    async def Chat(self, request: chat_pb2.ChatRequest, context: Any) -> AsyncIterator[chat_pb2.AgentEvent]:
        self.note("Chat", context)
        yield chat_pb2.AgentEvent(turn_id=TURN, sequence=1, turn_start=chat_pb2.TurnStart())
        await context.abort(grpc.StatusCode.UNAVAILABLE, "")

    async def ResumeChat(self, request: chat_pb2.ResumeChatRequest, context: Any) -> AsyncIterator[chat_pb2.AgentEvent]:
        self.note("ResumeChat", context)
        yield chat_pb2.AgentEvent(turn_id=TURN, sequence=2, final_state=chat_pb2.FinalState())


class Matters(Recorder, MatterServiceServicer):
    async def GetMatter(self, request: matters_pb2.GetMatterRequest, context: Any) -> matters_pb2.GetMatterResponse:
        self.note("GetMatter", context)
        return matters_pb2.GetMatterResponse()

    async def ListMatters(
        self, request: matters_pb2.ListMattersRequest, context: Any
    ) -> matters_pb2.ListMattersResponse:
        self.note("ListMatters", context)
        return matters_pb2.ListMattersResponse()

    async def WatchDocuments(
        self, request: matters_pb2.WatchDocumentsRequest, context: Any
    ) -> AsyncIterator[matters_pb2.WatchDocumentsResponse]:
        self.note("WatchDocuments", context)
        yield matters_pb2.WatchDocumentsResponse()

    async def UploadDocument(
        self, requests: AsyncIterator[matters_pb2.UploadDocumentRequest], context: Any
    ) -> matters_pb2.UploadDocumentResponse:
        self.note("UploadDocument", context)
        async for _ in requests:
            pass
        return matters_pb2.UploadDocumentResponse()


async def test_all_streams_of_a_turn_name_its_matter_also_after_a_cut(connect: Connect) -> None:
    chats = Chats()  # type: ignore[abstract]  # the rest is not asked for
    async with (
        serving(add_ChatServiceServicer_to_server, chats) as target,
        connect(target, retries=QUICK) as client,
    ):
        await client.chat("Hi", matter_id=MATTER).result()
        await client.chat("Hi").result()
    assert chats.seen == [("Chat", MATTER), ("ResumeChat", MATTER), ("Chat",), ("ResumeChat",)]


async def test_every_call_about_a_matter_names_it(connect: Connect) -> None:
    matters = Matters()  # type: ignore[abstract]  # the rest is not asked for
    async with serving(add_MatterServiceServicer_to_server, matters) as target, connect(target) as client:
        await client.matters.get(MATTER)
        assert [matter async for matter in client.matters.list()] == []
        assert [state async for state in client.documents.watch(MATTER)] != []
        await client.documents.upload(MATTER, b"text", filename="a.txt")
    named = [("GetMatter", MATTER), ("ListMatters",), ("WatchDocuments", MATTER), ("UploadDocument", MATTER)]
    assert matters.seen == named


@pytest.mark.parametrize(
    ("request_", "named"),
    [
        (tools_pb2.SearchRequest(matter_id=MATTER), MATTER),
        (chat_pb2.ChatRequest(matter_context=context_pb2.MatterContext(matter_id="documentation")), "documentation"),
        (matters_pb2.UpdateMatterRequest(matter=matters_pb2.Matter(matter_id=MATTER)), MATTER),
        (chat_pb2.ChatRequest(message="Hi"), ""),
        (matters_pb2.GetMatterRequest(matter_id="not\nprintable"), ""),
        (matters_pb2.GetMatterRequest(matter_id="Ö"), ""),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Message) else str(value),
)
def test_the_matter_is_that_of_the_request_if_metadata_can_hold_it(request_: Message, named: str) -> None:
    assert matter_metadata(request_) == ((("proviso-matter", named),) if named else ())
