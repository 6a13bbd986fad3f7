"""What turns cost, counted in calls of functions on the event loop, since times say nothing on a busy machine. Each
bound has room; a cost that doubles goes over it."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from itertools import count
from pathlib import Path

from google.protobuf.field_mask_pb2 import FieldMask

from proviso_client.v1 import chat_pb2, context_pb2, matters_pb2, sessions_pb2
from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.turns import SqlTurnStore
from proviso_service.identity import LOCAL_CALLER
from proviso_service.turns import ChatMessage, MessageRole, TurnRequest
from tests.support.counting import calls_during
from tests.support.migrated import state_in
from tests.support.running import final_of, running_service
from tests.support.scripted_model import text
from tests.support.stored import an_outcome

EXCHANGES = 60
OPTIONS = chat_pb2.ChatOptions(disable_cache=True)


async def fewest(work: Callable[[], Awaitable[object]], times: int = 3) -> int:
    """Work that goes on beside it may add calls to a count, but never takes any away."""
    return min([await calls_during(work) for _ in range(times)])


async def test_a_short_turn_costs_what_few_small_calls_do(tmp_path: Path, models_dir: Path) -> None:
    async with running_service(tmp_path / "data", models_dir, *[text("Hello?")] * 8) as service:
        matter_id = await service.create_matter()
        one_matter = matters_pb2.GetMatterRequest(matter_id=matter_id)

        async def turn() -> None:
            await service.ask("Who?", matter_id, options=OPTIONS)

        async def small_call() -> None:
            await service.matters.GetMatter(one_matter)

        for warm in (turn, small_call):
            await warm()
        turns, small = await fewest(turn), await fewest(small_call)
    print(f"a turn makes {turns} calls, GetMatter {small}: {turns / small:.1f} times as many")
    assert turns <= 6 * small
    assert turns <= 6_000


async def test_a_long_conversation_costs_a_few_times_an_empty_one_at_most(tmp_path: Path, models_dir: Path) -> None:
    async with running_service(tmp_path / "data", models_dir, *[text("Hello?")] * 12) as service:
        matter_id = await service.create_matter()
        said = [
            chat_pb2.HistoryMessage(role=role, content=f"What was said {number}, in some words more.")
            for number in range(EXCHANGES)
            for role in (sessions_pb2.MESSAGE_ROLE_USER, sessions_pb2.MESSAGE_ROLE_ASSISTANT)
        ]

        async def turn(history: list[chat_pb2.HistoryMessage]) -> None:
            await service.ask("Who?", matter_id, options=OPTIONS, history=history)

        await turn(said)
        empty = await fewest(lambda: turn([]))
        long = await fewest(lambda: turn(said))
    print(f"without history {empty} calls, with {len(said)} messages {long}: {long / empty:.2f} times as many")
    assert long <= 1.7 * empty


async def test_a_turn_in_a_session_of_10_000_messages_costs_what_one_in_a_new_session_does(
    tmp_path: Path, models_dir: Path
) -> None:
    said = (ChatMessage(MessageRole.USER, "q" * 400), ChatMessage(MessageRole.ASSISTANT, "a" * 600))
    async with running_service(tmp_path / "data", models_dir, *[text("Hello?")] * 12) as service:
        matter_id = await service.create_matter()
        sessions = map("session-{}".format, count())

        async def turn(session_id: str) -> None:
            await service.ask("Who?", matter_id, options=OPTIONS, session_id=session_id)

        await turn("long")
        await _add_messages(tmp_path / "data", "long", said * 5_000)
        await turn("long")
        new = await fewest(lambda: turn(next(sessions)))
        long = await fewest(lambda: turn("long"))
    print(f"in a new session {new} calls, in one of 10,000 messages {long}: {long / new:.2f} times as many")
    assert long <= 1.2 * new


async def _add_messages(data_dir: Path, session_id: str, messages: tuple[ChatMessage, ...]) -> None:
    """Adds messages to a session as a turn does that ends."""
    database = Database(state_in(data_dir))
    store = SqlTurnStore(database)
    await store.begin(LOCAL_CALLER, "filling", TurnRequest("?", session_id=session_id), "hash", "nobody", 60)
    outcome = replace(an_outcome(), new_messages=messages)
    await store.finish(LOCAL_CALLER, "filling", session_id, 1, outcome, "nobody")
    await database.close()


async def test_a_turn_knows_what_another_call_has_done_to_its_matter_just_before(
    tmp_path: Path, models_dir: Path
) -> None:
    """Whatever is kept from turn to turn to make turns cheaper."""
    async with running_service(tmp_path / "data", models_dir, *[text("Hello?")] * 4) as service:
        matter_id = await service.create_matter("Before")

        async def seen(document_id: str = "") -> tuple[str, str, int]:
            context = context_pb2.MatterContext(matter_id=matter_id, document_id=document_id)
            request = chat_pb2.ChatRequest(message="Who?", matter_context=context, options=OPTIONS)
            final = final_of([event async for event in service.chat.Chat(request)])
            about = final.request_context.matter_context
            return about.matter_name, about.document_name, final.context_problem

        assert await seen() == ("Before", "", 0)
        renamed = matters_pb2.Matter(matter_id=matter_id, name="After")
        await service.matters.UpdateMatter(
            matters_pb2.UpdateMatterRequest(matter=renamed, update_mask=FieldMask(paths=["name"]))
        )
        assert await seen() == ("After", "", 0)
        document = await service.upload(matter_id, "lease.md", b"# Lease")
        await service.wait_until_ready(matter_id)
        assert await seen(document.document_id) == ("After", "lease.md", 0)
        await service.matters.DeleteMatter(matters_pb2.DeleteMatterRequest(matter_id=matter_id))
        assert (await seen())[2] == chat_pb2.CONTEXT_PROBLEM_MATTER_NOT_FOUND
