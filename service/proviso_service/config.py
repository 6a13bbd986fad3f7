"""The settings of an operator together with the limits that are fixed, as the parts of the service take them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from proviso_service.agent.chat_models import ChatModelConfig
from proviso_service.analysis.model import IqlConfig
from proviso_service.backends.isaacus.client import IsaacusConfig
from proviso_service.backends.model_server.client import ModelServerConfig
from proviso_service.context.assets import AssetConfig
from proviso_service.context.selection.config import SelectionConfig
from proviso_service.images.image import ImageConfig
from proviso_service.settings import Settings
from proviso_service.turns import TurnConfig


@dataclass(frozen=True, slots=True)
class ServiceConfig:
    """The configuration of each part that has fixed limits. The folder of the part declares them and says what they
    mean."""

    turns: TurnConfig
    chat_model: ChatModelConfig
    selection: SelectionConfig
    assets: AssetConfig
    images: ImageConfig
    iql: IqlConfig
    isaacus: IsaacusConfig
    model_server: ModelServerConfig

    @classmethod
    def of(cls, settings: Settings, changes: Mapping[str, Mapping[str, Any]] | None = None) -> Self:
        """The settings with the fixed limits. `changes` are other limits by part, for tests that cannot wait for the
        usual ones."""
        given = changes or {}

        def limits(part: str, chosen: Mapping[str, Any] | None = None) -> dict[str, Any]:
            return {**(chosen or {}), **given.get(part, {})}

        return cls(
            turns=TurnConfig(**limits("turns", settings.turns.model_dump())),
            chat_model=ChatModelConfig(**limits("chat_model", settings.chat_model.model_dump())),
            selection=SelectionConfig(**limits("selection")),
            assets=AssetConfig(**limits("assets")),
            images=ImageConfig(**limits("images", settings.images.model_dump())),
            iql=IqlConfig(**limits("iql", settings.iql.model_dump())),
            isaacus=IsaacusConfig(**limits("isaacus", {"calls_at_once": settings.models.isaacus_calls_at_once})),
            model_server=ModelServerConfig(**limits("model_server")),
        )
