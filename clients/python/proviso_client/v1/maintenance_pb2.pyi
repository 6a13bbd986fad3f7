from proviso_client.v1 import matters_pb2 as _matters_pb2
from proviso_client.v1 import sessions_pb2 as _sessions_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RebuildIndexRequest(_message.Message):
    __slots__ = ("embed", "forget_others")
    EMBED_FIELD_NUMBER: _ClassVar[int]
    FORGET_OTHERS_FIELD_NUMBER: _ClassVar[int]
    embed: bool
    forget_others: bool
    def __init__(self, embed: _Optional[bool] = ..., forget_others: _Optional[bool] = ...) -> None: ...

class RebuildIndexResponse(_message.Message):
    __slots__ = ("vectors_done", "vectors_total")
    VECTORS_DONE_FIELD_NUMBER: _ClassVar[int]
    VECTORS_TOTAL_FIELD_NUMBER: _ClassVar[int]
    vectors_done: int
    vectors_total: int
    def __init__(self, vectors_done: _Optional[int] = ..., vectors_total: _Optional[int] = ...) -> None: ...

class ListRatingsRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "rating")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    RATING_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    rating: _sessions_pb2.Rating
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., rating: _Optional[_Union[_sessions_pb2.Rating, str]] = ...) -> None: ...

class RatedAnswer(_message.Message):
    __slots__ = ("tenant", "user_id", "session_id", "turn_id", "rating")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    RATING_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    user_id: str
    session_id: str
    turn_id: str
    rating: _sessions_pb2.AnswerRating
    def __init__(self, tenant: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., turn_id: _Optional[str] = ..., rating: _Optional[_Union[_sessions_pb2.AnswerRating, _Mapping]] = ...) -> None: ...

class ListRatingsResponse(_message.Message):
    __slots__ = ("ratings", "next_page_token", "total_size")
    RATINGS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TOTAL_SIZE_FIELD_NUMBER: _ClassVar[int]
    ratings: _containers.RepeatedCompositeFieldContainer[RatedAnswer]
    next_page_token: str
    total_size: int
    def __init__(self, ratings: _Optional[_Iterable[_Union[RatedAnswer, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., total_size: _Optional[int] = ...) -> None: ...

class Job(_message.Message):
    __slots__ = ("document", "worker", "lost_workers")
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    WORKER_FIELD_NUMBER: _ClassVar[int]
    LOST_WORKERS_FIELD_NUMBER: _ClassVar[int]
    document: _matters_pb2.Document
    worker: str
    lost_workers: int
    def __init__(self, document: _Optional[_Union[_matters_pb2.Document, _Mapping]] = ..., worker: _Optional[str] = ..., lost_workers: _Optional[int] = ...) -> None: ...

class ListJobsRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "failed_only")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    FAILED_ONLY_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    failed_only: bool
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., failed_only: _Optional[bool] = ...) -> None: ...

class ListJobsResponse(_message.Message):
    __slots__ = ("jobs", "next_page_token", "total_size")
    JOBS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TOTAL_SIZE_FIELD_NUMBER: _ClassVar[int]
    jobs: _containers.RepeatedCompositeFieldContainer[Job]
    next_page_token: str
    total_size: int
    def __init__(self, jobs: _Optional[_Iterable[_Union[Job, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., total_size: _Optional[int] = ...) -> None: ...

class RetryJobRequest(_message.Message):
    __slots__ = ("matter_id", "document_id")
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    matter_id: str
    document_id: str
    def __init__(self, matter_id: _Optional[str] = ..., document_id: _Optional[str] = ...) -> None: ...

class RetryJobResponse(_message.Message):
    __slots__ = ("document",)
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    document: _matters_pb2.Document
    def __init__(self, document: _Optional[_Union[_matters_pb2.Document, _Mapping]] = ...) -> None: ...

class CancelJobRequest(_message.Message):
    __slots__ = ("matter_id", "document_id")
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    matter_id: str
    document_id: str
    def __init__(self, matter_id: _Optional[str] = ..., document_id: _Optional[str] = ...) -> None: ...

class CancelJobResponse(_message.Message):
    __slots__ = ("document",)
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    document: _matters_pb2.Document
    def __init__(self, document: _Optional[_Union[_matters_pb2.Document, _Mapping]] = ...) -> None: ...
