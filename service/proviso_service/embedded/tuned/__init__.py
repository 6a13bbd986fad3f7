"""The weights that were tuned on contracts and take the place of the package's: `encoder.npz`, `judge.npz` and
`languages.npz`.
`make train` makes them; docs/models.md says from what.

A matrix is kept as integers with a scale for each row, as the graph has it, so that nothing is lost between the two."""

import io
from collections.abc import Mapping
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from proviso_service.embedded.bert_graph import WEIGHT_LEVELS, Weights, quantised

ENCODER = "encoder.npz"
JUDGE = "judge.npz"
OTHER_LANGUAGES = "languages.npz"

_SCALE = ".scale"


def tuned(name: str) -> Weights:
    """Returns the tuned weights of a file of this package, by their names in the model."""
    return from_bytes(resources.files(__package__).joinpath(name).read_bytes())


def to_bytes(weights: Weights) -> bytes:
    """Returns the weights as the content of a file."""
    arrays: dict[str, NDArray[np.generic]] = {}
    for name, values in weights.items():
        if values.ndim == 2:
            arrays[name], scale = quantised(values, axis=1, levels=WEIGHT_LEVELS)
            arrays[name + _SCALE] = scale
        else:
            arrays[name] = values.astype(np.float32)
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)  # type: ignore[arg-type]  # the stubs know of one more parameter
    return content.getvalue()


def from_bytes(content: bytes) -> Weights:
    """The inverse of `to_bytes`, but for what rounding takes away."""
    with np.load(io.BytesIO(content)) as arrays:
        found: Mapping[str, NDArray[np.float32]] = {
            name: arrays[name] * arrays[name + _SCALE] if name + _SCALE in arrays else arrays[name]
            for name in arrays
            if not name.endswith(_SCALE)
        }
    return found
