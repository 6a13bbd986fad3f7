"""The chat models that turns may use, and the gate that limits the calls to their provider, so that turns do not pile
up while the provider is down."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial

import structlog
from langchain_core.language_models import BaseChatModel
from pydantic import Field

from proviso_service.agent.failures import (
    MAY_PASS,
    CallNotMade,
    CircuitBreaker,
    Clock,
    Permit,
    TooManyCalls,
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
    failing_callers: int = Field(
        3,
        ge=1,
        le=1_000,
        description="Callers that these failures must come from before the model is called for nobody.",
    )
    pause_s: Seconds = Field(15.0, description="Length of that pause; then one call tries whether the model is back.")


_MAX_CALLERS = 1_024
"""So many callers have a row of failures of their own; of others it is forgotten, the least recent ones first."""


class ModelGate:
    """Limits the calls to one provider of chat models. A bounded number of calls runs at once, a call waits a bounded
    time for its turn, and no call is made while a circuit breaker is open.

    Each caller has a circuit breaker, so that one whose messages make the provider fail stops nobody else. One more
    stands before all callers, and takes failures of several of them to open."""

    def __init__(self, settings: ChatModelConfig, clock: Clock = time.monotonic) -> None:
        self._wait_s = settings.wait_s
        self._places = asyncio.Semaphore(settings.calls_at_once)
        self._new = partial(CircuitBreaker, settings.failures_in_a_row, settings.pause_s, clock)
        self._of_all = self._new(settings.failing_callers)
        self._of_caller: OrderedDict[str, CircuitBreaker] = OrderedDict()

    @asynccontextmanager
    async def call(self, caller: str = "") -> AsyncIterator[None]:
        """The block in which one call is made for `caller`. Raises CallNotMade where the call may not be made;
        exceptions of the call itself pass through."""
        breakers = self._breakers(caller)
        for breaker in breakers:
            breaker.check()  # before waiting, since a place would be of no use
        await self._take_place()
        try:
            with ExitStack() as judged:
                for breaker in breakers:
                    judged.enter_context(self._judged(breaker, caller))
                yield
        finally:
            self._places.release()

    def wait_s(self, caller: str) -> float | None:
        """The seconds after which a call for `caller` may succeed again; None where calls are made, and where it is not
        known."""
        return max((wait for breaker in self._breakers(caller) if (wait := breaker.wait_s)), default=None)

    def _breakers(self, caller: str) -> tuple[CircuitBreaker, CircuitBreaker]:
        own = self._of_caller.setdefault(caller, self._new())
        self._of_caller.move_to_end(caller)
        if len(self._of_caller) > _MAX_CALLERS:
            self._of_caller.popitem(last=False)
        return own, self._of_all

    async def _take_place(self) -> None:
        await with_timeout(
            self._wait_s,
            self._places.acquire(),
            late=TooManyCalls,
        )

    @contextmanager
    def _judged(self, breaker: CircuitBreaker, caller: str) -> Iterator[None]:
        """Tells the circuit breaker how the call ended."""
        permit = breaker.admit(caller)
        before = breaker.state
        try:
            yield
        except Exception as error:
            _note_failure(breaker, permit, error)
            raise
        except BaseException:
            breaker.abandoned(permit)
            raise
        else:
            breaker.answered(permit)
        finally:
            if breaker.state is not before:
                everybody = breaker is self._of_all
                _log.warning("chat_model_circuit", state=breaker.state.value, everybody=everybody)


def _note_failure(breaker: CircuitBreaker, permit: Permit, error: Exception) -> None:
    kind = classify(error)
    # In these cases the turn has ended, or no call was made: that says nothing about the provider.
    if isinstance(error, (TurnLogFull, TurnLogSealed, CallNotMade)):
        breaker.abandoned(permit)
    elif kind in MAY_PASS:
        breaker.failed(permit, kind, retry_after_s(error))
    else:
        breaker.answered(permit)


NO_TOOL_CALLS = "none"
"""The `tool_choice` of `bind_tools` with which a model may call none of the tools that it is told of."""

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
