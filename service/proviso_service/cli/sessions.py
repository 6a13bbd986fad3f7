"""Sessions as commands use them. Failed calls are AioRpcError."""

from collections.abc import AsyncIterator

import grpc
import grpc.aio

from proviso_client.v1 import sessions_pb2
from proviso_service.cli.client import CALL_TIMEOUT_S, PAGE_SIZE, Client


async def ensure_session(client: Client, session_id: str) -> None:
    """Makes the session unless it is there, as its first message would."""
    try:
        request = sessions_pb2.CreateSessionRequest(session_id=session_id)
        await client.sessions.CreateSession(request, timeout=CALL_TIMEOUT_S)
    except grpc.aio.AioRpcError as error:
        if error.code() is not grpc.StatusCode.ALREADY_EXISTS:
            raise


async def pages_of_messages(client: Client, session_id: str) -> AsyncIterator[list[sessions_pb2.ChatMessage]]:
    """All messages of a session, oldest first, page by page."""
    token = ""
    while True:
        request = sessions_pb2.ListMessagesRequest(session_id=session_id, page_size=PAGE_SIZE, page_token=token)
        page = await client.sessions.ListMessages(request, timeout=CALL_TIMEOUT_S)
        yield list(page.messages)
        token = page.next_page_token
        if not token:
            return


async def last_answer(client: Client, session_id: str) -> sessions_pb2.ChatMessage | None:
    """The newest message of the assistant; None where there is none."""
    found = None
    async for page in pages_of_messages(client, session_id):
        for message in page:
            if message.role == sessions_pb2.MESSAGE_ROLE_ASSISTANT:
                found = message
    return found
