"""The time of a turn."""

import time
from contextlib import suppress

import pytest

from proviso_service.turns import TurnClock


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The monotonic clock, to be set."""
    moment = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: moment[0])
    return moment


def test_it_runs_from_its_making_on_and_never_below_zero(now: list[float]) -> None:
    clock = TurnClock(10)
    now[0] += 4
    assert (clock.used_s, clock.left_s) == (4, 6)
    now[0] += 7
    assert (clock.used_s, clock.left_s) == (11, 0)


def test_it_stands_still_while_it_is_paused_also_by_a_failure(now: list[float]) -> None:
    clock = TurnClock(10)
    now[0] += 2
    with suppress(ValueError), clock.paused():
        now[0] += 50
        assert clock.used_s == 2
        raise ValueError
    now[0] += 1
    assert (clock.used_s, clock.left_s) == (3, 7)


def test_one_that_has_run_before_goes_on_when_it_is_started(now: list[float]) -> None:
    clock = TurnClock(10, used_s=3)
    now[0] += 50
    assert clock.used_s == 3
    clock.start()
    now[0] += 2
    assert (clock.used_s, clock.left_s) == (5, 5)
