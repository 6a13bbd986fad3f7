"""What a score of a model means: how often such an answer is right."""

from collections.abc import Mapping
from enum import StrEnum

from proviso_service.settings import BandSettings


class Likelihood(StrEnum):
    """About seven in ten of those that are likely are right, and three in ten of the least possible ones."""

    UNLIKELY = "unlikely"
    POSSIBLE = "possible"
    LIKELY = "likely"


class Bands:
    """The scores of one model in bands."""

    def __init__(self, settings: BandSettings | None = None) -> None:
        self._settings = settings or BandSettings()

    @classmethod
    def of_model(cls, model_id: str, settings: Mapping[str, BandSettings]) -> "Bands":
        """The bands that were measured for a model, or the usual ones, which hold for calibrated scores."""
        return cls(settings.get(model_id))

    def of(self, score: float) -> Likelihood:
        if score >= self._settings.likely:
            return Likelihood.LIKELY
        return Likelihood.POSSIBLE if score >= self._settings.possible else Likelihood.UNLIKELY


USUAL_BANDS = Bands()
