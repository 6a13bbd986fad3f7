"""The sentence encoder and the judge as ONNX graphs: a BERT encoder in int8, with mean pooling and L2 normalisation
inside, or with the judge's head.

Inputs are `input_ids` and `attention_mask`, int64 of shape (batch, tokens). The output of the encoder, `embedding`, is
float32 of shape (batch, width) with unit rows; that of the judge, `verdicts`, has the logits of the verdicts.

Weights are quantised per output column when the graph is built, activations per token while it runs. One scale for a
whole batch, as general tools make it, would let a text's vector depend on the texts beside it and loses more precision;
here a text has one vector whatever the batch, and the speed is the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proviso_service.embedded import onnx_format
from proviso_service.embedded.onnx_format import Attribute, ElementType

Floats = NDArray[np.float32]
Weights = Mapping[str, Floats]

_INPUTS = ("input_ids", "attention_mask")
_OPSET = 20  # the first with Gelu; LayerNormalization is older
_IR_VERSION = 9  # what opset 20 was released with
_RUNTIME_DOMAIN = "com.microsoft"  # ONNX Runtime's own operators; the fused integer product is one

SEPARATOR = 102
"""The token that ends each text of a pair."""

# Weights keep seven bits: processors without VNNI add two 8-bit products in 16 bits, which eight bits would overflow.
WEIGHT_LEVELS = 63
_WORD_LEVELS = 127
_ACTIVATION_LEVELS = 127.0


@dataclass(frozen=True, slots=True)
class BertShape:
    """What cannot be read from the weights: the number of attention heads, how many positions are kept and the epsilon
    of the layer norms."""

    heads: int
    max_tokens: int
    layer_norm_epsilon: float


def build_sentence_encoder(weights: Weights, shape: BertShape) -> bytes:
    """Returns the quantised graph as the content of a model file. Raises KeyError when a weight is missing."""
    return _Builder(weights, shape).encoder()


def build_judge(weights: Weights, shape: BertShape) -> bytes:
    """As `build_sentence_encoder`; the weights have those of the head, `judge.dense` and `judge.verdicts`."""
    return _Builder(weights, shape).judge()


class _Builder:
    """Builds the graph node by node, in order. Every method takes and returns names of values in the graph."""

    def __init__(self, weights: Weights, shape: BertShape) -> None:
        self._weights = weights
        self._shape = shape
        self._nodes: list[bytes] = []
        self._constants: dict[str, bytes] = {}
        self._width = weights["embeddings.word_embeddings.weight"].shape[1]
        self._head_width = self._width // shape.heads

    def encoder(self) -> bytes:
        self._pool(self._hidden())
        return self._model("sentence_encoder", "embedding", self._width)

    def judge(self) -> bytes:
        first = self._op(
            "Gather",
            [self._hidden(of_pairs=True), self._constant("first_token", np.asarray(0, dtype=np.int64))],
            axis=1,
        )
        seen = self._op(
            "Tanh", [self._dense("judge.dense", self._op("Squeeze", [first, self._ints("token_axis", [1])]))]
        )
        weight = self._constant("judge.verdicts.weight", np.ascontiguousarray(self._weights["judge.verdicts.weight"].T))
        bias = self._constant("judge.verdicts.bias", self._weights["judge.verdicts.bias"])
        self._nodes.append(onnx_format.node("Add", [self._op("MatMul", [seen, weight]), bias], ["verdicts"], {}))
        return self._model("judge", "verdicts", len(self._weights["judge.verdicts.bias"]))

    def _hidden(self, *, of_pairs: bool = False) -> str:
        hidden = self._embeddings(of_pairs=of_pairs)
        bias = self._mask_bias()
        layer = 0
        while f"encoder.layer.{layer}.output.dense.weight" in self._weights:
            hidden = self._layer(f"encoder.layer.{layer}", hidden, bias)
            layer += 1
        return hidden

    def _model(self, name: str, output: str, width: int) -> bytes:
        inputs = (onnx_format.value(name, ElementType.INT64, ["batch", "tokens"]) for name in _INPUTS)
        return onnx_format.model(
            graph_name=name,
            nodes=self._nodes,
            constants=self._constants.values(),
            inputs=inputs,
            outputs=[onnx_format.value(output, ElementType.FLOAT, ["batch", width])],
            producer="proviso",
            ir_version=_IR_VERSION,
            opsets={"": _OPSET, _RUNTIME_DOMAIN: 1},
        )

    def _embeddings(self, *, of_pairs: bool) -> str:
        looked_up = self._words()
        positions = self._weights["embeddings.position_embeddings.weight"][: self._shape.max_tokens]
        segments = self._weights["embeddings.token_type_embeddings.weight"]
        if of_pairs:
            looked_up = self._op(
                "Add", [looked_up, self._op("Gather", [self._constant("segments", segments), self._segment()])]
            )
        else:
            positions = positions + segments[0]  # one text is one segment, so its vector is part of every position
        table = self._constant("positions", positions)
        tokens = self._op("Shape", ["input_ids"], start=1, end=2)
        sliced = self._op("Slice", [table, self._ints("zero", [0]), tokens, self._ints("first_axis", [0])])
        return self._layer_norm("embeddings.LayerNorm", self._op("Add", [looked_up, sliced]))

    def _segment(self) -> str:
        """Numbers the segment of each token: 0 up to the first separator, and 1 after it."""
        separators = self._op("Equal", ["input_ids", self._ints("separator", [SEPARATOR])])
        counted = self._op("Cast", [separators], to=ElementType.INT64)
        before = self._op("CumSum", [counted, self._ints("token_axis", [1])], exclusive=1)
        return self._op("Min", [before, self._ints("last_segment", [1])])

    def _words(self) -> str:
        levels, scale = quantised(self._weights["embeddings.word_embeddings.weight"], axis=1, levels=_WORD_LEVELS)
        words = self._op("Gather", [self._constant("words", levels), "input_ids"])
        scales = self._op("Gather", [self._constant("words.scale", scale), "input_ids"])
        return self._op("Mul", [self._op("Cast", [words], to=ElementType.FLOAT), scales])

    def _mask_bias(self) -> str:
        """Adds a value of shape (batch, 1, 1, tokens): 0 where there is a token, a large negative number where there
        is padding."""
        mask = self._op("Cast", ["attention_mask"], to=ElementType.FLOAT)
        absent = self._op("Sub", [self._floats("one", 1.0), mask])
        bias = self._op("Mul", [absent, self._floats("padding_bias", -10_000.0)])
        return self._op("Unsqueeze", [bias, self._ints("head_and_query_axes", [1, 2])])

    def _layer(self, name: str, hidden: str, mask_bias: str) -> str:
        attended = self._attention(f"{name}.attention", hidden, mask_bias)
        hidden = self._layer_norm(
            f"{name}.attention.output.LayerNorm",
            self._op("Add", [self._dense(f"{name}.attention.output.dense", attended), hidden]),
        )
        inner = self._op("Gelu", [self._dense(f"{name}.intermediate.dense", hidden)])
        outer = self._dense(f"{name}.output.dense", inner)
        return self._layer_norm(f"{name}.output.LayerNorm", self._op("Add", [outer, hidden]))

    def _attention(self, name: str, hidden: str, mask_bias: str) -> str:
        # One product for queries, keys and values: the hidden state is quantised and read once instead of three times.
        weights = [self._weights[f"{name}.self.{part}.weight"].T for part in ("query", "key", "value")]
        biases = [self._weights[f"{name}.self.{part}.bias"] for part in ("query", "key", "value")]
        joined = self._affine(f"{name}.self", hidden, np.concatenate(weights, 1), np.concatenate(biases))
        parts = self._op_many("Split", [joined], outputs=3, axis=-1, num_outputs=3)
        query, value = (self._heads(part, [0, 2, 1, 3]) for part in (parts[0], parts[2]))
        key = self._heads(parts[1], [0, 2, 3, 1])
        scale = self._floats("score_scale", 1 / float(np.sqrt(self._head_width)))
        scores = self._op("Mul", [self._op("MatMul", [query, key]), scale])
        shares = self._op("Softmax", [self._op("Add", [scores, mask_bias])], axis=-1)
        mixed = self._op("Transpose", [self._op("MatMul", [shares, value])], perm=[0, 2, 1, 3])
        return self._op("Reshape", [mixed, self._ints("joined_heads", [0, 0, self._width])])

    def _heads(self, value: str, order: list[int]) -> str:
        shape = self._ints("split_heads", [0, 0, self._shape.heads, self._head_width])
        return self._op("Transpose", [self._op("Reshape", [value, shape])], perm=order)

    def _pool(self, hidden: str) -> None:
        mask = self._op("Cast", ["attention_mask"], to=ElementType.FLOAT)
        column = self._op("Unsqueeze", [mask, self._ints("last_axis", [2])])
        tokens = self._ints("token_axis", [1])
        total = self._op("ReduceSum", [self._op("Mul", [hidden, column]), tokens], keepdims=0)
        count = self._op("ReduceSum", [column, tokens], keepdims=0)
        mean = self._op("Div", [total, count])
        self._nodes.append(onnx_format.node("LpNormalization", [mean], ["embedding"], {"axis": 1, "p": 2}))

    def _dense(self, name: str, value: str) -> str:
        return self._affine(name, value, self._weights[f"{name}.weight"].T, self._weights[f"{name}.bias"])

    def _affine(self, name: str, value: str, weight: Floats, bias: Floats) -> str:
        columns, column_scale = quantised(weight, axis=0, levels=WEIGHT_LEVELS)
        levels, token_scale = self._quantise_tokens(value)
        product = self._op(
            "MatMulIntegerToFloat",
            [
                levels,
                self._constant(f"{name}.weight", columns),
                self._floats("one", 1.0),
                self._constant(f"{name}.scale", column_scale[0]),
                self._constant("activation_zero", np.asarray(128, dtype=np.uint8)),
            ],
            domain=_RUNTIME_DOMAIN,
        )
        scaled = self._op("Mul", [product, token_scale])
        return self._op("Add", [scaled, self._constant(f"{name}.bias", bias)])

    def _quantise_tokens(self, value: str) -> tuple[str, str]:
        """Returns the levels of the activations, integers around 128, and the scale of each token, of shape (batch,
        tokens, 1)."""
        largest = self._op("ReduceMax", [self._op("Abs", [value]), self._ints("width_axis", [-1])], keepdims=1)
        scale = self._op("Div", [largest, self._floats("activation_levels", _ACTIVATION_LEVELS)])
        scale = self._op("Max", [scale, self._floats("least_scale", 1e-9)])
        one, zero = self._floats("one", 1.0), self._constant("activation_zero", np.asarray(128, dtype=np.uint8))
        return self._op("QuantizeLinear", [self._op("Div", [value, scale]), one, zero]), scale

    def _layer_norm(self, name: str, value: str) -> str:
        scale = self._constant(f"{name}.weight", self._weights[f"{name}.weight"])
        bias = self._constant(f"{name}.bias", self._weights[f"{name}.bias"])
        epsilon = self._shape.layer_norm_epsilon
        return self._op("LayerNormalization", [value, scale, bias], axis=-1, epsilon=epsilon)

    def _op(self, kind: str, inputs: list[str], *, domain: str = "", **attributes: Attribute) -> str:
        [result] = self._op_many(kind, inputs, outputs=1, domain=domain, **attributes)
        return result

    def _op_many(
        self, kind: str, inputs: list[str], *, outputs: int, domain: str = "", **attributes: Attribute
    ) -> list[str]:
        name = f"{kind}_{len(self._nodes)}"
        names = [f"{name}_{index}" for index in range(outputs)]
        self._nodes.append(onnx_format.node(kind, inputs, names, attributes, name=name, domain=domain))
        return names

    def _ints(self, name: str, values: list[int]) -> str:
        return self._constant(name, np.asarray(values, dtype=np.int64))

    def _floats(self, name: str, value: float) -> str:
        return self._constant(name, np.asarray(value, dtype=np.float32))

    def _constant(self, name: str, value: NDArray[np.generic]) -> str:
        if name not in self._constants:
            self._constants[name] = onnx_format.tensor(name, np.atleast_1d(value))
        return name


def quantised(values: Floats, *, axis: int, levels: int) -> tuple[NDArray[np.int8], Floats]:
    """Returns integers in [-levels, levels], and the scales that give the values back: one for all values along
    `axis`."""
    scale = np.maximum(np.abs(values).max(axis=axis, keepdims=True) / levels, np.finfo(np.float32).tiny)
    return np.rint(values / scale).astype(np.int8), scale.astype(np.float32)
