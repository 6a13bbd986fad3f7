"""The chat models that turns may use, and the gate through which calls of a provider go, so that an outage of the
provider does not pile up turns."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial

import structlog
from langchain_core.language_models import BaseChatModel
from pydantic import Field

from proviso_service.agent.failures import (
    CallNotMade,
    CircuitBreaker,
    Clock,
    FailureKind,
    Permit,
    classify,
    retry_after_s,
)
from proviso_service.concurrency import with_timeout
from proviso_service.settings import ChatModelSettings, Seconds
from proviso_service.turns import TurnLogFull, TurnLogSealed

_log = structlog.get_logger(__name__)


class ChatModelConfig(ChatModelSettings):
    """The limits of a hosted chat model's calls, and when the service stops calling a model that fails."""

    wait_s: Seconds = Field(10.0, description="Longest wait of a call for its place among those that run at once.")
    failures_in_a_row: int = Field(
        10, ge=1, le=1_000, description="Transient failures in a row after which the model is not called for a while."
    )
    pause_s: Seconds = Field(15.0, description="Length of that pause; then one call tries whether the model is back.")


class ModelGate:
    """One for each provider. So many calls at once, each with a bounded wait for its place, and none while the provider
    is left alone."""

    def __init__(self, settings: ChatModelConfig, clock: Clock = time.monotonic) -> None:
        self._wait_s = settings.wait_s
        self._places = asyncio.Semaphore(settings.calls_at_once)
        self._breaker = CircuitBreaker(settings.failures_in_a_row, settings.pause_s, clock)

    @asynccontextmanager
    async def call(self) -> AsyncIterator[None]:
        """Around one call. Raises CallNotMade where it may not be made; what the call raises is raised as it is."""
        self._breaker.check()  # no wait for a place that is of no use
        await self._take_place()
        try:
            with self._judged():
                yield
        finally:
            self._places.release()

    async def _take_place(self) -> None:
        await with_timeout(
            self._wait_s,
            self._places.acquire(),
            late=lambda: CallNotMade("too many calls at once", FailureKind.TRANSIENT),
        )

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


USUAL_IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/webp"})
"""What every provider's models that see take."""


@dataclass(frozen=True, slots=True)
class NamedChatModel:
    """A chat model under the name that settings and requests use. `takes_image_urls`: it sees no images and says so, so
    their URLs are passed on as they are; every other model is given the bytes of images of `image_types`. Calls go
    through `gate`, which models of the same provider share; one that calls nothing outside needs none. `warm_up` does
    ahead what the first call would wait for; `close` ends what calls have opened."""

    name: str
    model: BaseChatModel
    takes_image_urls: bool = False
    image_types: frozenset[str] = USUAL_IMAGE_TYPES
    gate: ModelGate | None = None
    warm_up: Callable[[], Awaitable[None]] | None = None
    close: Callable[[], Awaitable[None]] | None = None

    @property
    def identity(self) -> str:
        """Names the model and those of its settings that shape replies."""
        kind = type(self.model)
        return f"{self.name} {kind.__module__}.{kind.__qualname__} {dict(self.model._identifying_params)}"


class ChatModels:
    """Models by name, built once; the first is the default."""

    def __init__(self, default: NamedChatModel, *others: NamedChatModel) -> None:
        self._default = default
        self._by_name: Mapping[str, NamedChatModel] = {m.name: m for m in (default, *others)}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._by_name)

    def get(self, name: str) -> NamedChatModel:
        """The model of this name, which is one of `names`; the default for an empty one."""
        return self._by_name[name] if name else self._default

    async def warm_up(self) -> None:
        """Prepares every model for its first call."""
        for named in self._by_name.values():
            if named.warm_up is not None:
                await named.warm_up()

    async def close(self) -> None:
        """Ends what the models hold open; no turn may run any more."""
        for named in self._by_name.values():
            if named.close is not None:
                await named.close()
