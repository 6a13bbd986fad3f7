"""Reads weights from a safetensors file: a length, a JSON table of tensors, then their bytes."""

import json
import struct
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Weights = Mapping[str, NDArray[np.float32]]

_MAX_TABLE_BYTES = 16 * 1024 * 1024


def read_float_tensors(path: Path) -> Weights:
    """Every float32 tensor by name; other types are left out. Raises ValueError when the file is malformed."""
    data = path.read_bytes()
    if len(data) < 8:
        raise ValueError(f"{path.name} is not a safetensors file")
    (table_bytes,) = struct.unpack_from("<Q", data)
    if table_bytes > min(_MAX_TABLE_BYTES, len(data) - 8):
        raise ValueError(f"{path.name} is not a safetensors file")
    table = json.loads(data[8 : 8 + table_bytes])
    body = memoryview(data)[8 + table_bytes :]
    weights: dict[str, NDArray[np.float32]] = {}
    for name, entry in table.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        start, end = entry["data_offsets"]
        weights[name] = np.frombuffer(body[start:end], dtype="<f4").reshape(entry["shape"])
    return weights
