"""Writes models in the ONNX format, a Protocol Buffers message, and reads their constants: just the parts that the
embedded models need.

The `onnx` package would do the same, but it takes 40 MB with what it depends on, and the service needs it for nothing
else. The numbers below are the field numbers of `onnx.proto`; fields are written in their order, so that a graph has
one form. The tests read what is written here with the real package and let it check the graph.
"""

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray


class ElementType(IntEnum):
    """The type of the elements of a tensor: `TensorProto.DataType`."""

    FLOAT = 1
    UINT8 = 2
    INT8 = 3
    INT64 = 7


_ELEMENT_TYPES: Mapping[np.dtype[Any], ElementType] = {
    np.dtype(np.float32): ElementType.FLOAT,
    np.dtype(np.uint8): ElementType.UINT8,
    np.dtype(np.int8): ElementType.INT8,
    np.dtype(np.int64): ElementType.INT64,
}

Attribute = int | float | Sequence[int]
"""The value of an operator's attribute."""

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FIXED_SIZES = {_FIXED64: 8, _FIXED32: 4}
_ATTRIBUTE_FLOAT, _ATTRIBUTE_INT, _ATTRIBUTE_INTS = 1, 2, 7


def node(
    kind: str,
    inputs: Sequence[str],
    outputs: Sequence[str],
    attributes: Mapping[str, Attribute],
    *,
    name: str = "",
    domain: str = "",
) -> bytes:
    """Encodes a `NodeProto`: one operator with the names of the values that it takes and gives."""
    encoded = [_text(1, value) for value in inputs]
    encoded += [_text(2, value) for value in outputs]
    if name:
        encoded.append(_text(3, name))
    encoded.append(_text(4, kind))
    encoded += [_field(5, _attribute(key, attributes[key])) for key in sorted(attributes)]
    if domain:
        encoded.append(_text(7, domain))
    return b"".join(encoded)


def tensor(name: str, values: NDArray[np.generic]) -> bytes:
    """Encodes a `TensorProto`: a constant. Raises KeyError for an element type that is not in `ElementType`."""
    little_endian = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    dimensions = b"".join(_number(1, size) for size in values.shape)
    kind = _number(2, _ELEMENT_TYPES[values.dtype])
    return dimensions + kind + _text(8, name) + _field(9, little_endian.tobytes())


def value(name: str, kind: ElementType, shape: Sequence[str | int]) -> bytes:
    """Encodes a `ValueInfoProto`: an input or output of the graph. A dimension of any size has a name instead of a
    number."""
    dimensions = (_text(2, size) if isinstance(size, str) else _number(1, size) for size in shape)
    tensor_shape = b"".join(_field(1, dimension) for dimension in dimensions)
    tensor_type = _number(1, kind) + _field(2, tensor_shape)
    return _text(1, name) + _field(2, _field(1, tensor_type))


def model(
    *,
    graph_name: str,
    nodes: Iterable[bytes],
    constants: Iterable[bytes],
    inputs: Iterable[bytes],
    outputs: Iterable[bytes],
    producer: str,
    ir_version: int,
    opsets: Mapping[str, int],
) -> bytes:
    """Encodes a `ModelProto`: the content of a model file. `opsets` is the version of the operators of every domain."""
    encoded = [_field(1, one) for one in nodes]
    encoded.append(_text(2, graph_name))
    encoded += [_field(5, one) for one in constants]
    encoded += [_field(11, one) for one in inputs]
    encoded += [_field(12, one) for one in outputs]
    graph = b"".join(encoded)
    imports = (_text(1, domain) + _number(2, version) for domain, version in opsets.items())
    return (
        _number(1, ir_version)
        + _text(2, producer)
        + _field(7, graph)
        + b"".join(_field(8, imported) for imported in imports)
    )


def read_constants(content: bytes) -> dict[str, NDArray[Any]]:
    """Returns the constants of a model by name, but for those of element types that are not in `ElementType`. Raises
    ValueError when the content is malformed."""
    graphs = (value for field, value in _fields(memoryview(content)) if field == 7)
    tensors = (value for graph in graphs for field, value in _fields(_message(graph)) if field == 5)
    return dict(one for tensor in tensors if (one := _constant(_message(tensor))))


def _constant(tensor: memoryview) -> tuple[str, NDArray[Any]] | None:
    """Reads a `TensorProto`, whose values are raw bytes, packed floats or, for small integers, packed numbers."""
    shape: list[int] = []
    values: NDArray[Any] = np.empty(0)
    name = ""
    dtype: np.dtype[Any] | None = None
    for field, value in _fields(tensor):
        if field == 1:
            shape += _numbers(value)
        elif field == 2:
            dtype = next((one for one, kind in _ELEMENT_TYPES.items() if kind == value), None)
        elif field == 4:
            values = np.frombuffer(_message(value), "<f4")
        elif field == 5:
            values = np.array(_numbers(value), dtype=np.uint64).astype(np.int64)  # in two's complement
        elif field == 8:
            name = bytes(_message(value)).decode()
        elif field == 9 and dtype is not None:
            values = np.frombuffer(_message(value), dtype.newbyteorder("<"))
    return None if dtype is None else (name, values.astype(dtype).reshape(shape))


def _numbers(value: int | memoryview) -> list[int]:
    """Reads a number, or a packed list of them."""
    if isinstance(value, int):
        return [value]
    found, at = [], 0
    while at < len(value):
        number, at = _read_varint(value, at)
        found.append(number)
    return found


def _message(value: int | memoryview) -> memoryview:
    if isinstance(value, memoryview):
        return value
    raise ValueError("a number stands where a message is expected")


def _fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Yields the number and the value of each field of a message. Raises ValueError when it is malformed."""
    at = 0
    while at < len(message):
        key, at = _read_varint(message, at)
        kind = key & 7
        if kind == _VARINT:
            number, at = _read_varint(message, at)
            yield key >> 3, number
            continue
        if kind == _BYTES:
            size, at = _read_varint(message, at)
        elif kind in _FIXED_SIZES:
            size = _FIXED_SIZES[kind]
        else:
            raise ValueError(f"a field of the unknown wire type {kind}")
        if at + size > len(message):
            raise ValueError("the message is cut short")
        yield key >> 3, message[at : at + size]
        at += size


def _read_varint(message: memoryview, at: int) -> tuple[int, int]:
    """Returns a number and the place after it."""
    number = 0
    for shift in range(0, 70, 7):
        if at >= len(message):
            raise ValueError("the message is cut short")
        number |= (message[at] & 0x7F) << shift
        at += 1
        if message[at - 1] <= 0x7F:
            return number, at
    raise ValueError("a number is too long")


def _attribute(name: str, given: Attribute) -> bytes:
    if isinstance(given, float):
        return _text(1, name) + _key(2, _FIXED32) + struct.pack("<f", given) + _number(20, _ATTRIBUTE_FLOAT)
    if isinstance(given, int):
        return _text(1, name) + _number(3, given) + _number(20, _ATTRIBUTE_INT)
    return _text(1, name) + b"".join(_number(8, number) for number in given) + _number(20, _ATTRIBUTE_INTS)


def _text(field: int, content: str) -> bytes:
    return _field(field, content.encode())


def _field(field: int, content: bytes) -> bytes:
    return _key(field, _BYTES) + _varint(len(content)) + content


def _number(field: int, content: int) -> bytes:
    return _key(field, _VARINT) + _varint(content)


def _key(field: int, wire_type: int) -> bytes:
    return _varint(field << 3 | wire_type)


def _varint(number: int) -> bytes:
    """Encodes a number with seven bits a byte, the lowest first. A negative number is written as its 64-bit two's
    complement."""
    number &= 0xFFFF_FFFF_FFFF_FFFF
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)
