import asyncio

from proviso_service.turns import OnDisconnect
from proviso_service.turns.turn import ConnectedReaders

SHORT_S = 0.01


async def test_one_grace_time_runs_however_often_somebody_came_and_left() -> None:
    abandoned: list[float] = []
    loop = asyncio.get_running_loop()
    readers = ConnectedReaders(OnDisconnect.GRACE, SHORT_S, lambda: abandoned.append(loop.time()))
    with readers.connected(), readers.connected():
        pass
    readers.start()
    with readers.connected():
        pass
    await asyncio.sleep(2 * SHORT_S)  # the grace time passes
    assert len(abandoned) == 1


async def test_after_the_end_nobody_s_leaving_matters() -> None:
    abandoned: list[float] = []
    for on_disconnect in OnDisconnect:
        readers = ConnectedReaders(on_disconnect, SHORT_S, lambda: abandoned.append(0))
        with readers.connected():
            readers.start()
            readers.stop()
        with readers.connected():
            pass
    await asyncio.sleep(2 * SHORT_S)  # the grace time would pass
    assert abandoned == []
