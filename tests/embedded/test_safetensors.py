"""Reading weights."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from proviso_service.embedded.prepare import read_float_tensors

FLOATS = arrays(np.float32, array_shapes(max_dims=3, max_side=4), elements=st.floats(width=32, allow_nan=False))


def safetensors(tensors: dict[str, np.ndarray]) -> bytes:
    table: dict[str, object] = {"__metadata__": {"format": "pt"}}
    body = b""
    for name, tensor in tensors.items():
        kind = "F32" if tensor.dtype == np.float32 else "I64"
        end = len(body) + tensor.nbytes
        table[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": [len(body), end]}
        body += tensor.tobytes()
    head = json.dumps(table).encode()
    return struct.pack("<Q", len(head)) + head + body


@given(tensors=st.dictionaries(st.text(min_size=1).filter(lambda name: name != "__metadata__"), FLOATS, max_size=4))
def test_tensors_come_back_as_written(tmp_path_factory: pytest.TempPathFactory, tensors: dict[str, np.ndarray]) -> None:
    path = tmp_path_factory.mktemp("weights") / "model.safetensors"
    path.write_bytes(safetensors({**tensors, "positions": np.arange(3)} if "positions" not in tensors else tensors))

    read = read_float_tensors(path)

    assert read.keys() == tensors.keys()
    for name, tensor in tensors.items():
        np.testing.assert_array_equal(read[name], tensor)


@pytest.mark.parametrize("data", [b"", b"short", struct.pack("<Q", 1_000) + b"{}", struct.pack("<Q", 3) + b"{]}"])
def test_malformed_files_are_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(data)

    with pytest.raises(ValueError, match=r"safetensors|Expecting"):
        read_float_tensors(path)
