"""What passes between the service and a process of models: JSON, and arrays as their bytes. Nothing in it can be
executed.

A message is the length of its head (four bytes), the head (JSON: the fields, and the type and shape of each array) and
the bytes of the arrays."""

import asyncio
import json
import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_LENGTH: Final = struct.Struct("!I")
_PIECE_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Message:
    """A call or an answer. `fields` are what JSON can hold."""

    fields: Mapping[str, Any]
    arrays: Sequence[Array] = field(default=())


async def send(stream: asyncio.StreamWriter, message: Message) -> None:
    """Writes a message; the next one may only follow when this one is done. Raises OSError."""
    for piece in _pieces(message):
        stream.write(piece)
        await stream.drain()


async def receive(stream: asyncio.StreamReader) -> Message:
    """Reads a message. Raises asyncio.IncompleteReadError at the end of the stream, and OSError."""
    (size,) = _LENGTH.unpack(await stream.readexactly(_LENGTH.size))
    fields, described = json.loads(await stream.readexactly(size))
    arrays = []
    for kind, shape in described:
        dtype = np.dtype(kind)
        content = await stream.readexactly(math.prod(shape) * dtype.itemsize)
        arrays.append(np.frombuffer(content, dtype).reshape(shape))
    return Message(fields, arrays)


def _pieces(message: Message) -> Iterator[bytes | memoryview]:
    head = json.dumps([message.fields, [(array.dtype.str, array.shape) for array in message.arrays]]).encode()
    yield _LENGTH.pack(len(head)) + head
    for array in message.arrays:
        if array.size:
            content = np.ascontiguousarray(array).data.cast("B")
            for start in range(0, len(content), _PIECE_BYTES):
                yield content[start : start + _PIECE_BYTES]
