"""A BERT encoder as a torch module, made from a package's weights: the numbers that `bert_graph` builds an ONNX graph
of, open to be tuned."""

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from proviso_service.embedded.bert_graph import SEPARATOR

Arrays = Mapping[str, NDArray[np.float32]]

_EPSILON = 1e-12
_HEADS = 12


class Layer(nn.Module):
    """One layer of BERT. Queries, keys and values are one product."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.joined = nn.Linear(width, 3 * width)
        self.attended = nn.Linear(width, width)
        self.attended_norm = nn.LayerNorm(width, eps=_EPSILON)
        self.wide = nn.Linear(width, inner)
        self.narrow = nn.Linear(inner, width)
        self.norm = nn.LayerNorm(width, eps=_EPSILON)

    def forward(self, hidden: Tensor, bias: Tensor) -> Tensor:
        """Takes and returns hidden states of shape (texts, tokens, width); `bias` is added to the attention."""
        texts, tokens, width = hidden.shape
        parts = self.joined(hidden).view(texts, tokens, 3, _HEADS, width // _HEADS).permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(*parts, attn_mask=bias.to(parts.dtype))
        hidden = self.attended_norm(hidden + self.attended(seen.transpose(1, 2).reshape(texts, tokens, width)))
        return self.norm(hidden + self.narrow(functional.gelu(self.wide(hidden))))


class Bert(nn.Module):
    """The encoder. `tuned_from` is the first layer that is tuned; what lies below stays as it is."""

    def __init__(self, weights: Arrays, tuned_from: int, dropout: float = 0.0) -> None:
        super().__init__()
        self._tuned_from = tuned_from
        self.words = nn.Parameter(_tensor(weights["embeddings.word_embeddings.weight"]), requires_grad=False)
        self.places = nn.Parameter(_tensor(weights["embeddings.position_embeddings.weight"]), requires_grad=False)
        self.segments = nn.Parameter(_tensor(weights["embeddings.token_type_embeddings.weight"]), requires_grad=False)
        self.norm = _norm(weights, "embeddings.LayerNorm")
        count = 1 + max(int(name.split(".")[2]) for name in weights if name.startswith("encoder.layer."))
        self.layers = nn.ModuleList(_layer(weights, f"encoder.layer.{number}", self.width) for number in range(count))
        self._drop = nn.Dropout(dropout)
        for part in (self.norm, *self.layers[:tuned_from]):
            part.requires_grad_(False)

    @property
    def width(self) -> int:
        return self.words.shape[1]

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Returns the hidden states, of shape (texts, tokens, width)."""
        with torch.no_grad():
            separators = (ids == SEPARATOR).long()
            segment = (separators.cumsum(dim=1) - separators).clamp(max=1)
            hidden = self.norm(self.words[ids] + self.places[: ids.shape[1]] + self.segments[segment])
            bias = torch.where(mask.bool(), 0.0, -10_000.0)[:, None, None, :]
            for layer in self.layers[: self._tuned_from]:
                hidden = layer(hidden, bias)
        for layer in self.layers[self._tuned_from :]:
            hidden = self._drop(layer(hidden, bias))
        return hidden.float()

    def tuned(self) -> dict[str, NDArray[np.float32]]:
        """The weights of the tuned layers, by their names in the package."""
        found: dict[str, NDArray[np.float32]] = {}
        for number, layer in enumerate(self.layers):
            if number >= self._tuned_from:
                found |= _arrays(layer, f"encoder.layer.{number}")
        return found


def mean_of(states: Tensor, mask: Tensor) -> Tensor:
    """The mean state of each text, of shape (texts, width)."""
    share = mask / mask.sum(dim=1, keepdim=True)
    return (states * share[:, :, None]).sum(dim=1)


def _layer(weights: Arrays, name: str, width: int) -> Layer:
    layer = Layer(width, weights[f"{name}.intermediate.dense.weight"].shape[0])
    for part, its_name in _parts(name).items():
        for kind in ("weight", "bias"):
            value = np.concatenate([weights[f"{one}.{kind}"] for one in its_name])
            getattr(getattr(layer, part), kind).data = _tensor(value)
    return layer


def _arrays(layer: nn.Module, name: str) -> dict[str, NDArray[np.float32]]:
    found: dict[str, NDArray[np.float32]] = {}
    for part, its_names in _parts(name).items():
        for kind in ("weight", "bias"):
            value = getattr(getattr(layer, part), kind).detach().float().cpu().numpy()
            found |= zip((f"{one}.{kind}" for one in its_names), np.split(value, len(its_names)), strict=True)
    return found


def _parts(name: str) -> dict[str, list[str]]:
    return {
        "joined": [f"{name}.attention.self.{part}" for part in ("query", "key", "value")],
        "attended": [f"{name}.attention.output.dense"],
        "attended_norm": [f"{name}.attention.output.LayerNorm"],
        "wide": [f"{name}.intermediate.dense"],
        "narrow": [f"{name}.output.dense"],
        "norm": [f"{name}.output.LayerNorm"],
    }


def _norm(weights: Arrays, name: str) -> nn.LayerNorm:
    norm = nn.LayerNorm(weights[f"{name}.weight"].shape[0], eps=_EPSILON)
    norm.weight.data, norm.bias.data = _tensor(weights[f"{name}.weight"]), _tensor(weights[f"{name}.bias"])
    return norm


def _tensor(array: NDArray[np.float32]) -> Tensor:
    return torch.from_numpy(np.array(array, dtype=np.float32))
