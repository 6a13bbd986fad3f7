"""What stands between the turns and a provider of chat models, so that its outage does not pile up turns."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial

import structlog

from proviso_service.agent.circuit_breaker import CircuitBreaker, Clock, Permit
from proviso_service.agent.failures import FailureKind, NotAsked, classify, retry_after_s
from proviso_service.settings import ChatModelSettings
from proviso_service.turns import TurnLogFull, TurnLogSealed

_log = structlog.get_logger(__name__)


class ModelGate:
    """One for each provider. So many calls at once, each with a bounded wait for its place, and none while the provider
    is left alone."""

    def __init__(self, settings: ChatModelSettings, clock: Clock = time.monotonic) -> None:
        self._wait_s = settings.wait_s
        self._places = asyncio.Semaphore(settings.calls_at_once)
        self._breaker = CircuitBreaker(settings.failures_in_a_row, settings.pause_s, clock)

    @asynccontextmanager
    async def call(self) -> AsyncIterator[None]:
        """Around one call. Raises NotAsked where it may not be made; what the call raises is raised as it is."""
        self._breaker.check()  # no wait for a place that is of no use
        await self._take_place()
        try:
            with self._judged():
                yield
        finally:
            self._places.release()

    async def _take_place(self) -> None:
        try:
            async with asyncio.timeout(self._wait_s):
                await self._places.acquire()
        except TimeoutError:
            raise NotAsked("too many calls at once", FailureKind.TRANSIENT) from None

    @contextmanager
    def _judged(self) -> Iterator[None]:
        """Tells the circuit breaker what becomes of the call."""
        permit = self._breaker.admit()
        try:
            yield
        except Exception as error:
            self._tell(partial(self._failed, permit, error))
            raise
        except BaseException:
            self._tell(partial(self._breaker.abandoned, permit))
            raise
        self._tell(partial(self._breaker.answered, permit))

    def _failed(self, permit: Permit, error: Exception) -> None:
        kind = classify(error)
        if isinstance(error, (TurnLogFull, TurnLogSealed)):  # the turn's end, not the provider's
            self._breaker.abandoned(permit)
        elif kind is FailureKind.FINAL:
            self._breaker.answered(permit)
        else:
            self._breaker.failed(permit, kind, retry_after_s(error))

    def _tell(self, verdict: Callable[[], None]) -> None:
        before = self._breaker.state
        verdict()
        if self._breaker.state is not before:
            _log.warning("chat_model_circuit", state=self._breaker.state.value)
