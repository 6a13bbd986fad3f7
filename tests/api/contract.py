"""The limits that the contract's field comments state, read from the .proto sources."""

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from grpc_tools import protoc

PROTOS = Path(__file__).parents[2] / "protos"
_LIMITS = re.compile(r"Limits:\s+(\d+)\s+to\s+(\d+)\s*(characters|items)?\.")
_MESSAGE, _FIELD = (FileDescriptorProto.MESSAGE_TYPE_FIELD_NUMBER, 2)


@dataclass(frozen=True)
class Limit:
    """`unit` is "characters", "items", or empty for numbers."""

    message: str
    field: str
    low: int
    high: int
    unit: str

    def __str__(self) -> str:
        return f"{self.message}.{self.field}"


@cache
def stated_limits() -> tuple[Limit, ...]:
    """Every `Limits:` of the contract."""
    return tuple(limit for file in _compiled().file for limit in _limits(file))


def mentions() -> int:
    """How often the sources say `Limits:` at all."""
    return sum(path.read_text().count("Limits:") for path in PROTOS.rglob("*.proto"))


def _compiled() -> FileDescriptorSet:
    sources = sorted(str(path.relative_to(PROTOS)) for path in PROTOS.rglob("*.proto"))
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "contract.bin"
        well_known = files("grpc_tools") / "_proto"
        options = ["--include_source_info", f"--descriptor_set_out={out}", f"-I{PROTOS}", f"-I{well_known}"]
        assert protoc.main(["protoc", *options, *sources]) == 0
        return FileDescriptorSet.FromString(out.read_bytes())


def _limits(file: FileDescriptorProto) -> Iterator[Limit]:
    for location in file.source_code_info.location:
        match tuple(location.path):
            case (kind, message_index, inside, field_index) if (kind, inside) == (_MESSAGE, _FIELD):
                message = file.message_type[message_index]
                comment = " ".join(location.leading_comments.split())
                if found := _LIMITS.search(comment):
                    low, high, unit = found.groups()
                    yield Limit(message.name, message.field[field_index].name, int(low), int(high), unit or "")
