"""When the Python client tries again, and when it gives up."""

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_client._retrying import Deadline, RetryPolicy, RetryState, is_cut, passes
from proviso_client.errors import DeadlineExceeded, ErrorDetails, ProvisoError, QuotaExceeded, TooBusy, Unavailable


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def unavailable(retry_after_s: float | None = None) -> Unavailable:
    return Unavailable("away", ErrorDetails(grpc.StatusCode.UNAVAILABLE, retry_after_s=retry_after_s))


def patience(policy: RetryPolicy, clock: Clock, timeout_s: float | None = None, chance: float = 0.0) -> RetryState:
    return RetryState(policy, Deadline(timeout_s, clock), clock, lambda: chance)


def test_waits_double_up_to_the_longest() -> None:
    waiting = patience(RetryPolicy(first_wait_s=1.0, longest_wait_s=5.0), Clock())
    assert [waiting.wait_s(unavailable()) for _ in range(5)] == [1.0, 2.0, 4.0, 5.0, 5.0]


def test_progress_begins_the_count_anew() -> None:
    waiting = patience(RetryPolicy(max_attempts=2, first_wait_s=1.0), Clock())
    for _ in range(5):
        assert waiting.wait_s(unavailable()) == 1.0
        waiting.progressed()
    waiting.wait_s(unavailable())
    with pytest.raises(Unavailable):
        waiting.wait_s(unavailable())


def test_the_time_that_the_service_asks_for_is_kept() -> None:
    waiting = patience(RetryPolicy(first_wait_s=1.0), Clock())
    assert waiting.wait_s(unavailable(7.5)) == 7.5
    assert waiting.wait_s(unavailable(0.5)) == 2.0


def test_patience_ends_after_a_time_without_anything_new() -> None:
    clock = Clock()
    waiting = patience(RetryPolicy(max_attempts=100, first_wait_s=1.0, longest_wait_s=1.0, give_up_after_s=10.0), clock)
    waiting.wait_s(unavailable())
    clock.now += 9.0
    waiting.wait_s(unavailable())
    clock.now += 0.5
    with pytest.raises(Unavailable):
        waiting.wait_s(unavailable())


def test_a_deadline_before_the_next_attempt_is_told_at_once() -> None:
    clock = Clock()
    waiting = patience(RetryPolicy(first_wait_s=1.0), clock, timeout_s=5.0)
    waiting.wait_s(unavailable())
    clock.now += 3.5
    with pytest.raises(DeadlineExceeded, match="away") as raised:
        waiting.wait_s(unavailable())
    assert isinstance(raised.value.__cause__, Unavailable)


@given(
    chances=st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=50),
    first=st.floats(0, 10),
    longest=st.floats(0, 100),
)
def test_a_wait_is_between_half_of_its_length_and_all_of_it(chances: list[float], first: float, longest: float) -> None:
    drawn = iter(chances)
    policy = RetryPolicy(max_attempts=1_000, first_wait_s=first, longest_wait_s=longest, give_up_after_s=1e9)
    waiting = RetryState(policy, Deadline(None), Clock(), lambda: next(drawn))
    for number in range(len(chances)):
        whole = min(first * 2.0**number, longest)
        assert whole / 2 <= waiting.wait_s(unavailable()) <= whole


@pytest.mark.parametrize("wrong", [{"max_attempts": 0}, {"first_wait_s": -1.0}, {"give_up_after_s": -0.1}])
def test_a_policy_that_makes_no_sense_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="at least one attempt"):
        RetryPolicy(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("code", list(grpc.StatusCode))
def test_a_code_without_a_reason_is_a_cut_where_gRPC_itself_says_it(code: grpc.StatusCode) -> None:  # noqa: N802
    error = ProvisoError("", ErrorDetails(code))
    names = {"UNAVAILABLE", "CANCELLED", "INTERNAL", "UNKNOWN", "DEADLINE_EXCEEDED"}
    assert is_cut(error, begun=False) == is_cut(error, begun=True) == (code.name in names)


def test_what_the_service_says_itself_is_no_cut_unless_it_passes() -> None:
    fault = ProvisoError("", ErrorDetails(grpc.StatusCode.INTERNAL, "INTERNAL"))
    draining = Unavailable("", ErrorDetails(grpc.StatusCode.UNAVAILABLE, "DRAINING"))
    exhausted = grpc.StatusCode.RESOURCE_EXHAUSTED
    busy = TooBusy("", ErrorDetails(exhausted, "TOO_BUSY", retry_after_s=1.0))
    used_up = QuotaExceeded("", ErrorDetails(exhausted, "QUOTA_EXCEEDED", retry_after_s=3_600.0))
    assert [is_cut(error, begun=True) for error in (fault, draining, busy, used_up)] == [False, True, True, True]
    assert [is_cut(error, begun=False) for error in (fault, draining, busy, used_up)] == [False, True, True, False]
    assert [passes(error) for error in (fault, draining, busy, used_up)] == [False, True, True, False]


@pytest.mark.parametrize("code", list(grpc.StatusCode))
def test_a_single_call_is_repeated_where_its_connection_was_lost(code: grpc.StatusCode) -> None:
    details = ErrorDetails(code)
    error = Unavailable("", details) if code is grpc.StatusCode.UNAVAILABLE else ProvisoError("", details)
    assert passes(error) == (code.name in {"UNAVAILABLE", "INTERNAL"})
