import asyncio

from proviso_service.turns import OnDisconnect
from proviso_service.turns.turn import ConnectedReaders

SHORT_S = 0.01


async def test_one_grace_time_runs_however_often_somebody_came_and_left() -> None:
    abandoned: list[float] = []
    loop = asyncio.get_running_loop()
    attendance = ConnectedReaders(OnDisconnect.GRACE, SHORT_S, lambda: abandoned.append(loop.time()))
    with attendance.attached(), attendance.attached():
        pass
    attendance.open()
    with attendance.attached():
        pass
    await asyncio.sleep(2 * SHORT_S)  # the grace time passes
    assert len(abandoned) == 1


async def test_after_the_end_nobody_s_leaving_matters() -> None:
    abandoned: list[float] = []
    for on_disconnect in OnDisconnect:
        attendance = ConnectedReaders(on_disconnect, SHORT_S, lambda: abandoned.append(0))
        with attendance.attached():
            attendance.open()
            attendance.close()
        with attendance.attached():
            pass
    await asyncio.sleep(2 * SHORT_S)  # the grace time would pass
    assert abandoned == []
