"""Models written in the ONNX format, read and checked by the `onnx` package, which the service itself does without."""

from contextlib import suppress

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from proviso_service.embedded import onnx_format
from proviso_service.embedded.bert_graph import BertShape, build_judge, build_sentence_encoder
from proviso_service.embedded.onnx_format import Attribute, ElementType

INT64 = st.integers(-(2**63), 2**63 - 1)
ATTRIBUTES = st.dictionaries(
    st.text(min_size=1), st.one_of(INT64, st.floats(width=32, allow_nan=False), st.lists(INT64, min_size=1)), max_size=4
)
WIDTH, HIDDEN, WORDS = 8, 16, 11


def random_weights() -> dict[str, NDArray[np.float32]]:
    """A small encoder of one layer."""
    layer = "encoder.layer.0"
    shapes = {
        "embeddings.word_embeddings.weight": (WORDS, WIDTH),
        "embeddings.position_embeddings.weight": (32, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
        **{f"{layer}.attention.self.{part}.weight": (WIDTH, WIDTH) for part in ("query", "key", "value")},
        **{f"{layer}.attention.self.{part}.bias": (WIDTH,) for part in ("query", "key", "value")},
        f"{layer}.attention.output.dense.weight": (WIDTH, WIDTH),
        f"{layer}.attention.output.dense.bias": (WIDTH,),
        f"{layer}.intermediate.dense.weight": (HIDDEN, WIDTH),
        f"{layer}.intermediate.dense.bias": (HIDDEN,),
        f"{layer}.output.dense.weight": (WIDTH, HIDDEN),
        f"{layer}.output.dense.bias": (WIDTH,),
    }
    for norm in ("embeddings", f"{layer}.attention.output", f"{layer}.output"):
        shapes |= {f"{norm}.LayerNorm.weight": (WIDTH,), f"{norm}.LayerNorm.bias": (WIDTH,)}
    random = np.random.default_rng(7)
    return {name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


def test_the_encoder_is_a_sound_graph_in_the_form_that_the_package_would_write() -> None:
    written = build_sentence_encoder(random_weights(), BertShape(heads=2, max_tokens=16, layer_norm_epsilon=1e-12))

    model = onnx.load_from_string(written)

    onnx.checker.check_model(model, full_check=True)
    assert model.SerializeToString(deterministic=True) == written
    assert [output.name for output in model.graph.output] == ["embedding"]


def test_the_judge_is_a_sound_graph_in_the_form_that_the_package_would_write() -> None:
    shapes = {
        "dense.weight": (WIDTH, WIDTH),
        "dense.bias": (WIDTH,),
        "verdicts.weight": (3, WIDTH),
        "verdicts.bias": (3,),
    }
    head = {f"judge.{name}": np.ones(shape, np.float32) for name, shape in shapes.items()}

    written = build_judge(random_weights() | head, BertShape(heads=2, max_tokens=16, layer_norm_epsilon=1e-12))

    model = onnx.load_from_string(written)
    onnx.checker.check_model(model, full_check=True)
    assert model.SerializeToString(deterministic=True) == written
    assert [output.name for output in model.graph.output] == ["verdicts"]


@given(attributes=ATTRIBUTES)
def test_attributes_come_back(attributes: dict[str, Attribute]) -> None:
    written = onnx_format.node("Kind", ["a", "b"], ["c"], attributes, name="Kind_0", domain="com.example")

    node = onnx.NodeProto.FromString(written)

    assert node == helper.make_node("Kind", ["a", "b"], ["c"], name="Kind_0", domain="com.example", **attributes)


@pytest.mark.parametrize("kind", [np.float32, np.int8, np.uint8, np.int64])
def test_constants_come_back(kind: type[np.generic]) -> None:
    values = np.arange(6).reshape(2, 3).astype(kind).T

    tensor = onnx.TensorProto.FromString(onnx_format.tensor("constant", values))

    assert tensor.name == "constant"
    np.testing.assert_array_equal(numpy_helper.to_array(tensor), values)


@given(
    values=st.dictionaries(
        st.text(min_size=1),
        arrays.arrays(st.sampled_from([np.float32, np.int8, np.uint8, np.int64]), arrays.array_shapes(min_dims=0)),
    ),
    is_raw=st.booleans(),
)
def test_constants_are_read_whichever_way_the_package_wrote_them(
    values: dict[str, NDArray[np.generic]], *, is_raw: bool
) -> None:
    graph = helper.make_graph([], "g", [], [])
    for name, one in values.items():
        if is_raw or one.dtype == np.int64:
            graph.initializer.append(numpy_helper.from_array(one, name))
        else:
            graph.initializer.append(
                helper.make_tensor(name, helper.np_dtype_to_tensor_dtype(one.dtype), one.shape, one.flatten())
            )
    graph.initializer.append(numpy_helper.from_array(np.zeros(2), "of another element type"))

    found = onnx_format.read_constants(helper.make_model(graph).SerializeToString())

    assert found.keys() == values.keys()
    for name, one in values.items():
        np.testing.assert_array_equal(found[name], one)


@given(content=st.binary())
def test_any_bytes_are_read_or_refused_as_malformed(content: bytes) -> None:
    with suppress(ValueError):
        onnx_format.read_constants(content)


def test_an_input_has_sizes_and_names_of_sizes() -> None:
    written = onnx_format.value("tokens", ElementType.INT64, ["batch", 384])

    expected = helper.make_tensor_value_info("tokens", onnx.TensorProto.INT64, ["batch", 384])
    assert onnx.ValueInfoProto.FromString(written) == expected
