"""Scores in bands, the usual ones or those that were measured for a model."""

import pytest
from pydantic import ValidationError

from proviso_service.analysis.likelihood import Bands, Likelihood
from proviso_service.settings import BandSettings


@pytest.mark.parametrize(
    ("score", "usual", "measured"),
    [
        (0.0, Likelihood.UNLIKELY, Likelihood.UNLIKELY),
        (0.3, Likelihood.POSSIBLE, Likelihood.UNLIKELY),
        (0.69, Likelihood.POSSIBLE, Likelihood.POSSIBLE),
        (0.7, Likelihood.LIKELY, Likelihood.POSSIBLE),
        (0.9, Likelihood.LIKELY, Likelihood.LIKELY),
    ],
)
def test_bands_are_those_of_the_model(score: float, usual: Likelihood, measured: Likelihood) -> None:
    settings = {"hosted/1": BandSettings(possible=0.5, likely=0.9)}
    assert Bands.of_model("another", settings).of(score) is usual
    assert Bands.of_model("hosted/1", settings).of(score) is measured


def test_likely_is_not_below_possible() -> None:
    with pytest.raises(ValidationError, match="possible must not be above likely"):
        BandSettings(possible=0.8)
