"""How long an answer takes does not tell whether what was asked for exists."""

import os
import statistics
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from google.protobuf.descriptor import MethodDescriptor

from tests.support.access_world import Callers, Metadata, callers, filled, method_named
from tests.support.running import AGREEMENT, new_id

TRIES = 15 * int(os.environ.get("CHAOS_ROUNDS", "1"))
CALLS = 4
MAX_TIMES = 12
MAX_RATIO = 1.05
"""One more query of the database is a tenth of the shortest of these calls."""

METHODS = ("GetMatter", "GetDocument", "GetSession", "GetTurn", "Search")

pytestmark = pytest.mark.timeout(300)


async def cpu_s(world: Callers, method: MethodDescriptor, metadata: Metadata, ids: Mapping[str, str]) -> float:
    """The CPU time of a few calls in this process, in which client and service run: other programs do not count."""
    request = filled(method.input_type, ids)
    begun = time.process_time()
    for _ in range(CALLS):
        found = await world.call(method, request, metadata)
        assert found.code.name == "NOT_FOUND"
    return time.process_time() - begun


async def ratio(world: Callers, name: str, metadata: Metadata, *both: Mapping[str, str]) -> float:
    """The quotient of the medians of many tries, of which one of each takes turns in going first. There are more tries
    as long as they differ: chance does so less and less."""
    spent: tuple[list[float], list[float]] = ([], [])
    for _ in range(MAX_TIMES):
        for number in range(TRIES):
            for which in (0, 1) if number % 2 else (1, 0):
                spent[which].append(await cpu_s(world, method_named(name), metadata, both[which]))
        found = statistics.median(spent[0]) / statistics.median(spent[1])
        if 1 / MAX_RATIO < found < MAX_RATIO:
            break
    return found


async def test_what_is_foreign_takes_as_long_as_what_does_not_exist(tmp_path: Path, models_dir: Path) -> None:
    async with callers(tmp_path, models_dir) as world:
        ada = world.metadata("smith", "ada")
        matter_id = await world.matter(ada, agreement=AGREEMENT)
        (document,) = (await world.ask("ListDocuments", ada, matter_id=matter_id)).documents
        await world.ask("CreateSession", ada, session_id="s-owner")
        turn_id = (await world.ask("Chat", ada, message="Hi", matter_context={"matter_id": matter_id}))[0].turn_id
        own = {"document_id": document.document_id, "session_id": "s-owner", "turn_id": turn_id, "matter_id": matter_id}
        nobodys = dict.fromkeys(own, new_id())
        for stranger in (world.metadata("smith", "bob"), world.metadata("jones", "eve")):
            for name in METHODS:
                both = [ids | {"query": "fees"} for ids in (own, nobodys)]
                found = await ratio(world, name, stranger, *both)
                print(f"counted {name} {found:.2f}")
                assert 1 / MAX_RATIO < found < MAX_RATIO, name
