"""The tuned weights as files."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from proviso_service.embedded.bert_graph import WEIGHT_LEVELS
from proviso_service.embedded.tuned import JUDGE, from_bytes, to_bytes, tuned

FINITE = st.floats(-100, 100, width=32)
MATRICES = arrays.arrays(np.float32, arrays.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=FINITE)
ROWS = arrays.arrays(np.float32, st.integers(1, 6), elements=FINITE)


@given(weights=st.dictionaries(st.sampled_from(["a.weight", "a.bias", "b.weight"]), MATRICES | ROWS))
def test_weights_come_back_but_for_rounding(weights: dict[str, np.typing.NDArray[np.float32]]) -> None:
    found = from_bytes(to_bytes(weights))

    assert found.keys() == weights.keys()
    for name, values in weights.items():
        step = np.abs(values).max(axis=-1, keepdims=True) / WEIGHT_LEVELS if values.ndim == 2 else 0
        assert (np.abs(found[name] - values) <= 0.51 * step + np.finfo(np.float32).tiny).all()


@given(weights=st.fixed_dictionaries({"a.weight": MATRICES}))
def test_what_was_rounded_once_is_not_rounded_again(weights: dict[str, np.typing.NDArray[np.float32]]) -> None:
    once = from_bytes(to_bytes(weights))
    np.testing.assert_allclose(from_bytes(to_bytes(once))["a.weight"], once["a.weight"], rtol=1e-6)


def test_the_upper_layers_are_tuned() -> None:
    layers = {int(one.split(".")[2]) for one in tuned(JUDGE) if one.startswith("encoder.")}
    assert layers == {6, 7, 8, 9, 10, 11}
