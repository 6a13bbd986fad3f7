"""The chat models that turns may use, and the gate that limits the calls to their provider, so that turns do not pile
up while the provider is down."""

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
    """Limits the calls to one provider of chat models. A bounded number of calls runs at once, a call waits a bounded
    time for its turn, and no call is made while the circuit breaker is open."""

    def __init__(self, settings: ChatModelConfig, clock: Clock = time.monotonic) -> None:
        self._wait_s = settings.wait_s
        self._places = asyncio.Semaphore(settings.calls_at_once)
        self._breaker = CircuitBreaker(settings.failures_in_a_row, settings.pause_s, clock)

    @asynccontextmanager
    async def call(self) -> AsyncIterator[None]:
        """The block in which one call is made. Raises CallNotMade where the call may not be made; exceptions of the
        call itself pass through."""
        self._breaker.check()  # before waiting, since a place would be of no use
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
        """Tells the circuit breaker how the call ended."""
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
        if isinstance(error, (TurnLogFull, TurnLogSealed)):  # the turn has ended; this says nothing about the provider
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
"""The types of images that every provider's models accept, where they accept images at all."""


@dataclass(frozen=True, slots=True)
class NamedChatModel:
    """A chat model under the name that settings and requests use for it.

    `takes_image_urls` says that the model sees no images and is passed their URLs as they are; every other model is
    given the bytes of images of `image_types`. Calls go through `gate`, which the models of one provider share; a model
    that runs in this process needs none. `warm_up` does in advance what the first call would wait for; `close` frees
    what the model holds open."""

    name: str
    model: BaseChatModel
    takes_image_urls: bool = False
    image_types: frozenset[str] = USUAL_IMAGE_TYPES
    gate: ModelGate | None = None
    warm_up: Callable[[], Awaitable[None]] | None = None
    close: Callable[[], Awaitable[None]] | None = None

    @property
    def identity(self) -> str:
        """Identifies the model and those of its settings that shape its replies."""
        kind = type(self.model)
        return f"{self.name} {kind.__module__}.{kind.__qualname__} {dict(self.model._identifying_params)}"


class ChatModels:
    """The chat models by name. They are built once; the first is the default."""

    def __init__(self, default: NamedChatModel, *others: NamedChatModel) -> None:
        self._default = default
        self._by_name: Mapping[str, NamedChatModel] = {m.name: m for m in (default, *others)}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._by_name)

    def get(self, name: str) -> NamedChatModel:
        """The model of this name, which must be one of `names`; the default model for an empty name."""
        return self._by_name[name] if name else self._default

    async def warm_up(self) -> None:
        """Prepares every model for its first call."""
        for named in self._by_name.values():
            if named.warm_up is not None:
                await named.warm_up()

    async def close(self) -> None:
        """Closes all models. No turn may run any more."""
        for named in self._by_name.values():
            if named.close is not None:
                await named.close()
