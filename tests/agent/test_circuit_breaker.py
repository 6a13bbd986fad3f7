"""The circuit breaker, against a plain account of what it promises."""

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from proviso_service.agent.failures import CallNotMade, Circuit, CircuitBreaker, FailureKind, Permit

FAILURES = 3
PAUSE_S = 10.0
TRANSIENT, LIMITED = FailureKind.TRANSIENT, FailureKind.RATE_LIMITED


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Breaker(RuleBasedStateMachine):
    """`opened_at` is None while the circuit is closed; `probe` is the call that decides."""

    permits = Bundle("permits")

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.breaker = CircuitBreaker(FAILURES, PAUSE_S, self.clock)
        self.row: list[FailureKind] = []
        self.opened_at: float | None = None
        self.opened_by: list[FailureKind] = []
        self.probe: Permit | None = None
        self.current: list[Permit] = []

    @property
    def left_alone(self) -> bool:
        return self.opened_at is not None and (self.probe is not None or self.clock.now < self.opened_at + PAUSE_S)

    @rule(seconds=st.sampled_from([0.5, 4.0, PAUSE_S]))
    def time_passes(self, seconds: float) -> None:
        self.clock.now += seconds

    @rule(target=permits)
    def call(self) -> Permit | None:
        if self.left_alone:
            with pytest.raises(CallNotMade) as refused:
                self.breaker.admit()
            only_limits = all(kind is LIMITED for kind in self.opened_by)
            assert refused.value.kind is (LIMITED if only_limits else TRANSIENT)
            return None
        permit = self.breaker.admit()
        if self.opened_at is not None:
            self.probe = permit
        self.current.append(permit)
        return permit

    @rule(call=consumes(permits))
    def answer(self, call: Permit | None) -> None:
        if call is None:
            return
        self.breaker.answered(call)
        if self._counts(call):
            self.row = []
            if self.probe is not None:
                self.probe = self.opened_at = None
                self.current = []

    @rule(call=consumes(permits), kind=st.sampled_from([TRANSIENT, LIMITED]))
    def fail(self, call: Permit | None, kind: FailureKind) -> None:
        if call is None:
            return
        self.breaker.failed(call, kind)
        if self._counts(call):
            self.row.append(kind)
            if self.probe is not None or len(self.row) == FAILURES:
                self.opened_at, self.opened_by = self.clock.now, self.row
                self.row, self.probe, self.current = [], None, []

    @rule(call=consumes(permits))
    def abandon(self, call: Permit | None) -> None:
        if call is None:
            return
        self.breaker.abandoned(call)
        if self._counts(call) and self.probe is not None:
            self.probe, self.current = None, []

    def _counts(self, permit: Permit) -> bool:
        """Whether the circuit has not changed since the call began."""
        return any(permit is own for own in self.current) and (self.probe is None or permit is self.probe)

    @invariant()
    def state_is_what_the_account_says(self) -> None:
        expected = Circuit.CLOSED if self.opened_at is None else Circuit.PROBING if self.probe else Circuit.OPEN
        assert self.breaker.state is expected


TestBreaker = Breaker.TestCase


def test_callers_are_told_when_it_may_go_better() -> None:
    clock = Clock()
    breaker = CircuitBreaker(1, PAUSE_S, clock)
    breaker.failed(breaker.admit(), LIMITED, retry_after_s=60.0)
    clock.now += 4
    with pytest.raises(CallNotMade) as refused:
        breaker.admit()
    assert (refused.value.kind, refused.value.retry_after_s) == (LIMITED, 56.0)
    clock.now += 6
    breaker.failed(breaker.admit(), TRANSIENT)
    with pytest.raises(CallNotMade) as refused:
        breaker.admit()
    assert (refused.value.kind, refused.value.retry_after_s) == (TRANSIENT, PAUSE_S)


def test_one_call_alone_is_the_probe() -> None:
    clock = Clock()
    breaker = CircuitBreaker(1, PAUSE_S, clock)
    breaker.failed(breaker.admit(), TRANSIENT)
    clock.now += PAUSE_S
    probe = breaker.admit()
    with pytest.raises(CallNotMade):
        breaker.admit()
    breaker.answered(probe)
    assert breaker.admit() != probe
