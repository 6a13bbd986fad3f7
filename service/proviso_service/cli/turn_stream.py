"""A turn's events, each once and in order, through cut connections."""

import asyncio
import random
import uuid
from collections.abc import AsyncIterable, AsyncIterator

import grpc
import grpc.aio

from proviso_client.v1 import chat_pb2
from proviso_service.cli.client import CALL_TIMEOUT_S, Client, failure, is_transient
from proviso_service.cli.problems import CommandError

FIRST_WAIT_S = 0.25
LONGEST_WAIT_S = 4.0
MAX_FAILURES = 8
"""Failures in a row, without an event between them, after which the turn is given up: about 25 seconds."""


class TurnStream:
    """One turn of `request`. Iterate `events`; `cancel` ends the turn from beside the iteration. With a `turn_id` it is
    that turn from its beginning, and the request's message is not sent.

    A cut before the first event sends the request again under the same request_id, which attaches to the same turn;
    a later cut resumes after the last sequence seen.
    """

    def __init__(self, client: Client, request: chat_pb2.ChatRequest, turn_id: str = "") -> None:
        self._client = client
        self._request = chat_pb2.ChatRequest()
        self._request.CopyFrom(request)
        self._request.request_id = request.request_id or str(uuid.uuid4())
        self._cancel_wanted = False
        self.turn_id = turn_id
        self.last_sequence = 0

    async def events(self) -> AsyncIterator[chat_pb2.AgentEvent]:
        """Every event from turn_start to final_state, without heartbeats. Raises AioRpcError or CommandError when the
        turn cannot be followed to its end."""
        failures = 0
        while True:
            seen, cut = self.last_sequence, None
            try:
                async for event in self._open():
                    await self._note(event)
                    if event.sequence:
                        yield event
                    if event.HasField("final_state"):
                        return
            except grpc.aio.AioRpcError as error:
                if failure(error).reason == "TURN_EXPIRED":
                    yield await self._stored_end()
                    return
                cut = error
            failures = 1 if self.last_sequence > seen else failures + 1
            await self._wait_or_give_up(failures, cut)

    async def _wait_or_give_up(self, failures: int, cut: grpc.aio.AioRpcError | None) -> None:
        if cut and (failures > MAX_FAILURES or not is_transient(cut)):
            raise cut
        if failures > MAX_FAILURES:
            raise CommandError("The server keeps ending the stream before the turn has ended")
        await asyncio.sleep(_wait_s(failures, failure(cut).retry_after_s if cut else None))

    async def cancel(self) -> None:
        """Asks the server to end the turn; its final_state still comes through `events`."""
        self._cancel_wanted = True
        if self.turn_id:
            request = chat_pb2.CancelTurnRequest(turn_id=self.turn_id, user_id=self._request.user_id)
            await self._client.chat.CancelTurn(request, timeout=CALL_TIMEOUT_S)

    def _open(self) -> AsyncIterable[chat_pb2.AgentEvent]:
        if not self.turn_id:
            return self._client.chat.Chat(self._request)
        return self._client.chat.ResumeChat(
            chat_pb2.ResumeChatRequest(
                turn_id=self.turn_id, after_sequence=self.last_sequence, user_id=self._request.user_id
            )
        )

    async def _note(self, event: chat_pb2.AgentEvent) -> None:
        first = not self.turn_id
        self.turn_id = event.turn_id
        self.last_sequence = max(self.last_sequence, event.sequence)
        if first and self._cancel_wanted:
            await self.cancel()

    async def _stored_end(self) -> chat_pb2.AgentEvent:
        """The end of a turn whose events are no longer kept."""
        request = chat_pb2.GetTurnRequest(turn_id=self.turn_id, user_id=self._request.user_id)
        turn = await self._client.chat.GetTurn(request, timeout=CALL_TIMEOUT_S)
        return chat_pb2.AgentEvent(turn_id=self.turn_id, sequence=turn.last_sequence, final_state=turn.final_state)


def _wait_s(failures: int, asked_for_s: float | None) -> float:
    """Doubles with each failure, with jitter; at least what the server asked for."""
    wait_s = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2.0 ** (failures - 1))
    jitter = random.uniform(0.5, 1.0)  # noqa: S311 - not a secret
    return max(wait_s * jitter, min(asked_for_s or 0.0, 30.0))
