"""A filter that takes out of a compiled contract what it imports of others than Google's types, so that the generated
code needs nothing of theirs. The annotations stay, as unknown fields of the options: who knows them can read them."""

import sys

from google.protobuf.descriptor_pb2 import FileDescriptorSet

_FOREIGN = ("google/api/", "buf/validate/")


def main() -> None:
    image = FileDescriptorSet.FromString(sys.stdin.buffer.read())
    kept = [file for file in image.file if not file.name.startswith(_FOREIGN)]
    for file in kept:
        needed = [name for name in file.dependency if not name.startswith(_FOREIGN)]
        file.ClearField("dependency")
        file.dependency.extend(needed)
    sys.stdout.buffer.write(FileDescriptorSet(file=kept).SerializeToString())


if __name__ == "__main__":
    main()
