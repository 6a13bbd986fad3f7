"""What a score of a model means: how often such an answer is right."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from proviso_service.settings import BandSettings


class Likelihood(StrEnum):
    """About seven in ten of those that are likely are right, and three in ten of the least possible ones."""

    UNLIKELY = "unlikely"
    POSSIBLE = "possible"
    LIKELY = "likely"


@dataclass(frozen=True, slots=True)
class Bands:
    """The scores of one model from which an answer is possible, and from which it is likely."""

    possible: float
    likely: float

    @classmethod
    def of_model(cls, model_id: str, settings: Mapping[str, BandSettings]) -> "Bands":
        """The bands that were measured for a model, or the usual ones, which hold for calibrated scores."""
        measured = settings.get(model_id, BandSettings())
        return cls(measured.possible, measured.likely)

    def of(self, score: float) -> Likelihood:
        if score >= self.likely:
            return Likelihood.LIKELY
        return Likelihood.POSSIBLE if score >= self.possible else Likelihood.UNLIKELY


USUAL_BANDS = Bands.of_model("", {})
