"""The fitted numbers: one weight for each feature, and a calibration."""

import json
from collections.abc import Mapping

import numpy as np

from proviso_service.embedded.classifier.fitted import Head
from proviso_service.embedded.extractor.features import NAMES

_DIGITS = 6


def head_from_json(content: bytes) -> Head:
    data: Mapping[str, object] = json.loads(content)
    weights = data["weights"]
    if not isinstance(weights, dict) or tuple(weights) != NAMES:
        raise ValueError("the fitted weights are not those of the features")
    bias, slope, shift = (float(str(data[name])) for name in ("bias", "slope", "shift"))
    return Head(np.array(list(weights.values()), dtype=np.float64), bias, slope, shift)


def head_to_json(head: Head) -> bytes:
    weights = {name: _rounded(weight) for name, weight in zip(NAMES, head.weights, strict=True)}
    constants = {"bias": _rounded(head.bias), "slope": _rounded(head.slope), "shift": _rounded(head.shift)}
    return json.dumps({"weights": weights, **constants}, indent=1).encode() + b"\n"


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
