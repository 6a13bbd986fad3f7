from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class RebuildIndexRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RebuildIndexResponse(_message.Message):
    __slots__ = ("vectors_done", "vectors_total")
    VECTORS_DONE_FIELD_NUMBER: _ClassVar[int]
    VECTORS_TOTAL_FIELD_NUMBER: _ClassVar[int]
    vectors_done: int
    vectors_total: int
    def __init__(self, vectors_done: _Optional[int] = ..., vectors_total: _Optional[int] = ...) -> None: ...
