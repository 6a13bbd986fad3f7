"""A protoc plugin that writes the Python client's messages, stubs and types into the package `proviso_client`.

protoc derives the name of a module from the path of its proto file (`proviso/v1`). On the Python index the name
`proviso` belongs to another project, whose package would overwrite ours. So this plugin moves every file that protoc
writes below `proviso_client`, and changes the imports and the module names in it. The names in the contract, such as
`proviso.v1.ChatRequest`, stay as they are."""

import re
import sys
import tempfile
from pathlib import Path

from google.protobuf import descriptor_pb2
from google.protobuf.compiler import plugin_pb2
from grpc_tools import protoc

_OUTPUTS = ("python", "pyi", "grpc_python", "mypy_grpc")

_MODULE = re.compile(r"^from proviso\.|(?<=DESCRIPTOR, ')proviso\.|(?<=generated code in )proviso/", re.MULTILINE)
"""Where generated code names a Python module: an import, the module of the message classes, a message to people."""


def main() -> None:
    request = plugin_pb2.CodeGeneratorRequest.FromString(sys.stdin.buffer.read())
    response = plugin_pb2.CodeGeneratorResponse(
        supported_features=plugin_pb2.CodeGeneratorResponse.FEATURE_PROTO3_OPTIONAL
    )
    with tempfile.TemporaryDirectory() as folder:
        descriptors = Path(folder) / "descriptors.binpb"
        descriptors.write_bytes(descriptor_pb2.FileDescriptorSet(file=request.proto_file).SerializeToString())
        outputs = [f"--{output}_out={folder}" for output in _OUTPUTS]
        options = [f"--descriptor_set_in={descriptors}", "--mypy_grpc_opt=quiet", *outputs]
        status = protoc.main(["protoc", *options, *request.file_to_generate])
        if status != 0:
            response.error = f"grpc_tools.protoc exited with {status}"
        for path in sorted(Path(folder).rglob("*_pb2*.py*")):
            content = _MODULE.sub(lambda found: found[0].replace("proviso", "proviso_client"), path.read_text())
            response.file.add(name=f"proviso_client/{path.relative_to(Path(folder) / 'proviso')}", content=content)
    sys.stdout.buffer.write(response.SerializeToString())


if __name__ == "__main__":
    main()
