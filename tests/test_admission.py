"""Who may begin next, where more is asked for than the process can do."""

import asyncio
import os
import random
import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from proviso_service.admission import Admission, Rotation, Waiting
from proviso_service.errors import Overloaded
from proviso_service.identity import Caller

ANN, BEN = Caller("smith", "ann"), Caller("smith", "ben")
CARL = Caller("jones", "carl")
LONG_S = 60.0
SHORT_S = 0.05

callers = st.builds(Caller, st.sampled_from("abc"), st.sampled_from("xyz"))


async def waiting(admission: Admission, *asking: Caller) -> list[asyncio.Task[None]]:
    """Calls that have asked, in this order."""
    tasks = [asyncio.create_task(admission.begin(caller)) for caller in asking]
    await asyncio.sleep(0)
    return tasks


async def in_order(admission: Admission, asking: list[Caller]) -> list[Caller]:
    """The order in which calls begin that wait for the one place, each ending before the next begins."""
    order: list[Caller] = []

    async def work(caller: Caller) -> None:
        async with admission.one(caller):
            order.append(caller)

    await admission.begin(ANN)
    tasks = [asyncio.create_task(work(caller)) for caller in asking]
    await asyncio.sleep(0)
    admission.end(ANN)
    await asyncio.gather(*tasks)
    return order


async def test_tenants_take_turns_and_in_a_tenant_its_users() -> None:
    asking = [*[ANN] * 4, *[BEN] * 2, CARL, CARL]
    begun = await in_order(Admission("turns", 1, wait_s=LONG_S), asking)
    assert begun == [ANN, CARL, BEN, CARL, ANN, BEN, ANN, ANN]


async def test_who_asks_once_does_not_wait_for_the_hundreds_of_another() -> None:
    begun = await in_order(Admission("turns", 1, wait_s=LONG_S), [*[ANN] * 200, BEN])
    assert begun.index(BEN) <= 1


@given(st.lists(callers), st.data())
def test_nobody_is_passed_over(asking: list[Caller], data: st.DataObject) -> None:
    """Between two calls of a user, every other user of his tenant who waits has one; so has every other tenant."""
    rotation = Rotation()
    calls = []
    for caller in asking:
        calls.append(_call(caller))
        rotation.add(calls[-1])
    gone = data.draw(st.sets(st.sampled_from(range(len(calls))))) if calls else set()
    for index in gone:
        rotation.remove(calls[index])
        rotation.remove(calls[index])
    left = [call for index, call in enumerate(calls) if index not in gone]
    taken = []
    while (call := rotation.next(lambda _: True)) is not None:
        taken.append(call)
        assert len(rotation) == len(left) - len(taken)
    assert sorted(map(id, taken)) == sorted(map(id, left))
    for user in {call.caller for call in left}:
        assert [c for c in taken if c.caller == user] == [c for c in left if c.caller == user]
    _each_in_turn([call.caller.tenant for call in taken])
    for tenant in "abc":
        _each_in_turn([call.caller.user for call in taken if call.caller.tenant == tenant])


def _call(caller: Caller) -> Waiting:
    return Waiting(caller, None)  # type: ignore[arg-type]  # nobody waits for it


def _each_in_turn(names: list[str]) -> None:
    """Fails where a name comes twice before another one, of which more are to come, has come once."""
    for index, name in enumerate(names):
        rest = names[index + 1 :]
        until_again = rest.index(name) if name in rest else 0
        if name in rest:
            assert set(rest[:until_again]) == set(rest) - {name}


async def test_one_user_has_at_most_three_quarters_of_the_places() -> None:
    admission = Admission("turns", 8, wait_s=LONG_S)
    ours = await waiting(admission, *[ANN] * 8)
    await asyncio.gather(*ours[:6])
    await admission.begin(BEN)
    assert [task.done() for task in ours] == [True] * 6 + [False] * 2
    admission.end(ANN)
    await ours[6]
    ours[7].cancel()


async def test_work_with_threads_of_its_own_begins_in_every_place_at_once() -> None:
    admission = Admission("searches", 40, wait_s=LONG_S, on_loop=False)
    ours = await waiting(admission, *[ANN] * 31)
    assert [task.done() for task in ours] == [True] * 30 + [False]
    admission.end(ANN)
    await ours[30]


async def test_of_short_work_more_begins_at_once_than_of_long_work() -> None:
    few = 2 * (os.cpu_count() or 1)
    admission = Admission("turns", 16 * few, wait_s=LONG_S)

    async def begun_at_once() -> int:
        ours = await waiting(admission, *[ANN] * 8 * few)
        begun = sum(task.done() for task in ours)
        await asyncio.gather(*ours)
        for _ in ours:
            admission.end(ANN)
        return begun

    assert await begun_at_once() == few
    await do_one_after_the_other(admission, 200, each_s=0)
    assert await begun_at_once() == 8 * few
    await do_one_after_the_other(admission, 24, each_s=0.2 / few)
    assert await begun_at_once() == few


async def do_one_after_the_other(admission: Admission, pieces: int, each_s: float) -> None:
    """Pieces of work that take so much of the loop's time each."""
    for _ in range(pieces):
        async with admission.one(ANN):
            until_s = time.thread_time() + each_s
            while time.thread_time() < until_s:
                pass


async def test_a_call_that_waits_too_long_is_refused_and_told_when_to_come_again() -> None:
    admission = Admission("turns", 1, wait_s=SHORT_S, chance=lambda: 0.5)
    await admission.begin(ANN)
    with pytest.raises(Overloaded) as refused:
        await admission.begin(BEN)
    assert refused.value.subject == "tenants/smith"
    assert refused.value.retry_after_s == 1.5
    admission.end(ANN)
    await admission.begin(BEN)


async def test_of_a_full_queue_who_has_most_in_it_gives_way() -> None:
    admission = Admission("turns", 1, max_waiting=3, wait_s=LONG_S)
    await admission.begin(ANN)
    ours = await waiting(admission, *[ANN] * 4)
    await asyncio.sleep(0)
    with pytest.raises(Overloaded):
        await ours[3]  # at once: it is the newest itself
    [other] = await waiting(admission, CARL)
    with pytest.raises(Overloaded):
        await ours[2]
    admission.end(ANN)
    await ours[0]
    admission.end(ANN)
    await other
    for task in ours:
        task.cancel()


async def test_those_who_are_refused_come_again_when_the_queue_has_gone() -> None:
    """Each takes a tenth of a second: the refused one is told the time of all forty."""
    admission = Admission("turns", 1, max_waiting=40, wait_s=LONG_S, chance=lambda: 0.0)
    await admission.begin(ANN)
    ours = await waiting(admission, *[ANN] * 40)
    for task in ours[:2]:
        await asyncio.sleep(0.1)
        admission.end(ANN)
        await task
    await waiting(admission, ANN, ANN)
    with pytest.raises(Overloaded) as refused:
        await admission.begin(ANN)
    assert refused.value.retry_after_s >= 40 * 0.1
    for task in ours:
        task.cancel()


async def test_callers_who_go_away_at_any_moment_leave_nothing() -> None:
    chance = random.Random(7)  # noqa: S311 - not a secret
    admission = Admission("turns", 3, max_waiting=20, wait_s=0.02)
    ends: Counter[str] = Counter()

    async def call(caller: Caller) -> None:
        try:
            async with admission.one(caller):
                for _ in range(chance.randrange(5)):
                    await asyncio.sleep(0)
        except Overloaded:
            ends["refused"] += 1
        except asyncio.CancelledError:
            ends["cancelled"] += 1
        else:
            ends["done"] += 1

    tasks = []
    for _ in range(600):
        tasks.append(asyncio.create_task(call(chance.choice((ANN, BEN, CARL)))))
        await asyncio.sleep(0)
        if chance.random() < 0.5:
            chance.choice(tasks).cancel()
    await asyncio.gather(*tasks)
    assert set(ends) >= {"refused", "cancelled", "done"}
    # All places are free again.
    for caller in (ANN, BEN, CARL):
        await admission.begin(caller)


async def test_the_operator_is_told_at_once_and_then_how_many() -> None:
    admission = Admission("turns", 1, max_waiting=1, wait_s=LONG_S)
    await admission.begin(ANN)
    with capture_logs() as lines:
        ours = await waiting(admission, *[ANN] * 11)
        await asyncio.gather(*ours[1:], return_exceptions=True)
    [line] = lines
    assert line == {
        "event": "calls_refused",
        "log_level": "warning",
        "work": "turns",
        "refused": 1,
        "running": 1,
        "waiting": 1,
        "tenants": 1,
    }
    ours[0].cancel()
