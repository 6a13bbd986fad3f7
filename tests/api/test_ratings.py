"""RateAnswer of SessionService, and ListRatings of MaintenanceService, over a real channel with the SQL store."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc

from proviso_client.v1 import chat_pb2
from proviso_client.v1 import maintenance_pb2 as operators
from proviso_client.v1 import sessions_pb2 as pb
from proviso_client.v1.chat_pb2_grpc import ChatServiceStub
from proviso_client.v1.maintenance_pb2_grpc import MaintenanceServiceStub
from proviso_client.v1.sessions_pb2_grpc import SessionServiceStub
from proviso_service.turns import ChatMessage, MessageRole, TurnOutcome, TurnProgram
from tests.api.serving import conversations, refusal, served
from tests.turns.scripted import Gated, Program, ScriptedExecution, completed

if TYPE_CHECKING:  # the async stubs exist for type checkers only
    from proviso_client.v1.maintenance_pb2_grpc import MaintenanceServiceAsyncStub
    from proviso_client.v1.sessions_pb2_grpc import SessionServiceAsyncStub


async def script(execution: ScriptedExecution) -> TurnOutcome:
    new = (ChatMessage(MessageRole.USER, "Who pays?"), ChatMessage(MessageRole.ASSISTANT, "The tenant."))
    return TurnOutcome(completed().final_state, new_messages=new)


@dataclass(frozen=True)
class World:
    channel: grpc.aio.Channel

    @property
    def sessions(self) -> "SessionServiceAsyncStub":
        return SessionServiceStub(self.channel)

    @property
    def maintenance(self) -> "MaintenanceServiceAsyncStub":
        return MaintenanceServiceStub(self.channel)

    async def ask(self, session_id: str = "s", user_id: str = "ann") -> str:
        """The id of a turn that has ended."""
        request = chat_pb2.ChatRequest(message="Who pays?", session_id=session_id, user_id=user_id)
        answer: chat_pb2.InvokeResponse = await ChatServiceStub(self.channel).Invoke(request)
        return answer.turn_id

    async def rate(self, turn_id: str, rating: Any = pb.RATING_UP, **fields: Any) -> pb.AnswerRating:
        request = pb.RateAnswerRequest(turn_id=turn_id, rating=rating, **{"user_id": "ann", **fields})
        return (await self.sessions.RateAnswer(request)).rating

    async def messages(self, session_id: str = "s") -> list[pb.ChatMessage]:
        request = pb.ListMessagesRequest(session_id=session_id, user_id="ann")
        return list((await self.sessions.ListMessages(request)).messages)

    async def listed(self, **fields: Any) -> operators.ListRatingsResponse:
        return await self.maintenance.ListRatings(operators.ListRatingsRequest(**fields))


@asynccontextmanager
async def world(folder: Path, program: TurnProgram | None = None) -> AsyncIterator[World]:
    async with conversations(folder, program or Program(script)) as domain, served(domain) as server:
        yield World(server.channel)


async def test_a_rating_is_kept_with_the_answer(tmp_path: Path) -> None:
    async with world(tmp_path) as there:
        turn_id = await there.ask()
        text = "Clause 4 says the landlord."
        rated = await there.rate(turn_id, pb.RATING_DOWN, reason=pb.RATING_REASON_INCORRECT, text=text)
    async with world(tmp_path) as there:
        question, answer = await there.messages()
    assert (rated.rating, rated.reason, rated.text) == (pb.RATING_DOWN, pb.RATING_REASON_INCORRECT, text)
    assert rated.HasField("rate_time")
    assert answer.rating == rated
    assert not question.HasField("rating")


async def test_a_rating_is_replaced_and_taken_back(tmp_path: Path) -> None:
    async with world(tmp_path) as there:
        turn_id = await there.ask()
        await there.rate(turn_id, pb.RATING_DOWN, reason=pb.RATING_REASON_OTHER, text="Hm.")
        await there.rate(turn_id)
        replaced = (await there.messages())[1].rating
        back = await there.rate(turn_id, pb.RATING_UNSPECIFIED)
        shown = (await there.messages())[1].HasField("rating")
        listed = await there.listed()
    assert (replaced.rating, replaced.reason, replaced.text) == (pb.RATING_UP, pb.RATING_REASON_UNSPECIFIED, "")
    assert (back, shown, listed) == (pb.AnswerRating(), False, operators.ListRatingsResponse())


async def test_a_copy_of_an_answer_in_a_continued_session_shows_its_rating(tmp_path: Path) -> None:
    async with world(tmp_path) as there:
        rated = await there.rate(await there.ask())
        goes_on = pb.ContinueSessionRequest(session_id="s", new_session_id="t", user_id="ann")
        await there.sessions.ContinueSession(goes_on)
        shown = (await there.messages("t"))[1].rating
        listed = await there.listed()
    assert shown == rated
    assert listed.total_size == 1


async def test_what_cannot_be_rated_is_refused(tmp_path: Path) -> None:
    program = Gated()
    async with world(tmp_path, program) as there:
        request = chat_pb2.ChatRequest(message="Who pays?", session_id="s", user_id="ann")
        running = (await anext(aiter(ChatServiceStub(there.channel).Chat(request)))).turn_id
        early = await refusal(there.rate(running))
        foreign = await refusal(there.rate(running, user_id="ben"))
        unknown = await refusal(there.rate("t-1"))
        odd: Any = 99
        malformed = await refusal(there.rate("", odd, reason=odd, text="x" * 2_001))
        program.gate.set()
    assert (early.code, early.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "TURN_NOT_ENDED")
    assert {(r.code, r.reason) for r in (foreign, unknown)} == {(grpc.StatusCode.NOT_FOUND, "TURN_UNKNOWN")}
    assert malformed.violations.keys() == {"turn_id", "rating", "reason", "text"}


async def test_operators_see_the_ratings_of_everybody_newest_first(tmp_path: Path) -> None:
    async with world(tmp_path) as there:
        turns = [await there.ask(session_id, user) for session_id, user in (("s", "ann"), ("s", "ben"), ("", "ann"))]
        for turn_id, user in zip(turns, ("ann", "ben", "ann"), strict=True):
            await there.rate(turn_id, pb.RATING_DOWN if user == "ben" else pb.RATING_UP, user_id=user)
        first = await there.listed(page_size=2)
        last = await there.listed(page_size=2, page_token=first.next_page_token)
        down = await there.listed(rating=pb.RATING_DOWN)
        refused = await refusal(there.listed(rating=pb.RATING_UP, page_token=first.next_page_token))
    found = [(one.tenant, one.user_id, one.session_id, one.turn_id) for one in (*first.ratings, *last.ratings)]
    assert found == [
        ("local", "ann", "", turns[2]),
        ("local", "ben", "s", turns[1]),
        ("local", "ann", "s", turns[0]),
    ]
    assert (first.total_size, last.total_size, last.next_page_token) == (3, 3, "")
    assert (down.total_size, [one.turn_id for one in down.ratings]) == (1, [turns[1]])
    assert refused.violations.keys() == {"page_token"}


async def test_a_deleted_session_takes_its_ratings_along(tmp_path: Path) -> None:
    async with world(tmp_path) as there:
        await there.rate(await there.ask())
        await there.sessions.DeleteSession(pb.DeleteSessionRequest(session_id="s", user_id="ann"))
        listed = await there.listed()
    assert listed == operators.ListRatingsResponse()
