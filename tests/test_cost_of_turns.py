"""What turns cost, counted in calls of functions on the event loop, since times say nothing on a busy machine. Each
bound has room; a cost that doubles goes over it."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from proviso_client.v1 import chat_pb2, matters_pb2, sessions_pb2
from tests.support.counting import calls_during
from tests.support.running import running_service
from tests.support.scripted_model import text

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
    assert turns <= 8 * small


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
    assert long <= 3.5 * empty
