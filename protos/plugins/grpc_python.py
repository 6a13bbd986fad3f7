"""A protoc plugin that writes `*_pb2_grpc.py`: buf has no built-in for it, grpc_tools.protoc does."""

import sys
import tempfile
from pathlib import Path

from google.protobuf import descriptor_pb2
from google.protobuf.compiler import plugin_pb2
from grpc_tools import protoc


def main() -> None:
    request = plugin_pb2.CodeGeneratorRequest.FromString(sys.stdin.buffer.read())
    response = plugin_pb2.CodeGeneratorResponse(
        supported_features=plugin_pb2.CodeGeneratorResponse.FEATURE_PROTO3_OPTIONAL
    )
    with tempfile.TemporaryDirectory() as folder:
        descriptors = Path(folder) / "descriptors.binpb"
        descriptors.write_bytes(descriptor_pb2.FileDescriptorSet(file=request.proto_file).SerializeToString())
        status = protoc.main(
            [
                "protoc",
                f"--descriptor_set_in={descriptors}",
                f"--grpc_python_out={folder}",
                *request.file_to_generate,
            ]
        )
        if status != 0:
            response.error = f"grpc_tools.protoc exited with {status}"
        for path in sorted(Path(folder).rglob("*_pb2_grpc.py")):
            response.file.add(name=str(path.relative_to(folder)), content=path.read_text())
    sys.stdout.buffer.write(response.SerializeToString())


if __name__ == "__main__":
    main()
