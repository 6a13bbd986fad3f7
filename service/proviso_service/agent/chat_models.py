"""The chat models that turns may use."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from langchain_core.language_models import BaseChatModel

from proviso_service.agent.model_gate import ModelGate

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
