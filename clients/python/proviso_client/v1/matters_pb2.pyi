import datetime

from google.protobuf import field_mask_pb2 as _field_mask_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from proviso_client.v1 import errors_pb2 as _errors_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DocumentStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DOCUMENT_STATUS_UNSPECIFIED: _ClassVar[DocumentStatus]
    DOCUMENT_STATUS_PENDING: _ClassVar[DocumentStatus]
    DOCUMENT_STATUS_PROCESSING: _ClassVar[DocumentStatus]
    DOCUMENT_STATUS_READY: _ClassVar[DocumentStatus]
    DOCUMENT_STATUS_FAILED: _ClassVar[DocumentStatus]

class MatterRole(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MATTER_ROLE_UNSPECIFIED: _ClassVar[MatterRole]
    MATTER_ROLE_READER: _ClassVar[MatterRole]
    MATTER_ROLE_EDITOR: _ClassVar[MatterRole]
    MATTER_ROLE_OWNER: _ClassVar[MatterRole]
DOCUMENT_STATUS_UNSPECIFIED: DocumentStatus
DOCUMENT_STATUS_PENDING: DocumentStatus
DOCUMENT_STATUS_PROCESSING: DocumentStatus
DOCUMENT_STATUS_READY: DocumentStatus
DOCUMENT_STATUS_FAILED: DocumentStatus
MATTER_ROLE_UNSPECIFIED: MatterRole
MATTER_ROLE_READER: MatterRole
MATTER_ROLE_EDITOR: MatterRole
MATTER_ROLE_OWNER: MatterRole

class MatterMember(_message.Message):
    __slots__ = ("user_id", "role", "create_time")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    role: MatterRole
    create_time: _timestamp_pb2.Timestamp
    def __init__(self, user_id: _Optional[str] = ..., role: _Optional[_Union[MatterRole, str]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class GrantMatterAccessRequest(_message.Message):
    __slots__ = ("matter_id", "member")
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    MEMBER_FIELD_NUMBER: _ClassVar[int]
    matter_id: str
    member: MatterMember
    def __init__(self, matter_id: _Optional[str] = ..., member: _Optional[_Union[MatterMember, _Mapping]] = ...) -> None: ...

class GrantMatterAccessResponse(_message.Message):
    __slots__ = ("member",)
    MEMBER_FIELD_NUMBER: _ClassVar[int]
    member: MatterMember
    def __init__(self, member: _Optional[_Union[MatterMember, _Mapping]] = ...) -> None: ...

class RevokeMatterAccessRequest(_message.Message):
    __slots__ = ("matter_id", "member_user_id")
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    MEMBER_USER_ID_FIELD_NUMBER: _ClassVar[int]
    matter_id: str
    member_user_id: str
    def __init__(self, matter_id: _Optional[str] = ..., member_user_id: _Optional[str] = ...) -> None: ...

class RevokeMatterAccessResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListMatterMembersRequest(_message.Message):
    __slots__ = ("matter_id", "page_size", "page_token")
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    matter_id: str
    page_size: int
    page_token: str
    def __init__(self, matter_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListMatterMembersResponse(_message.Message):
    __slots__ = ("members", "next_page_token", "total_size")
    MEMBERS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TOTAL_SIZE_FIELD_NUMBER: _ClassVar[int]
    members: _containers.RepeatedCompositeFieldContainer[MatterMember]
    next_page_token: str
    total_size: int
    def __init__(self, members: _Optional[_Iterable[_Union[MatterMember, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., total_size: _Optional[int] = ...) -> None: ...

class Matter(_message.Message):
    __slots__ = ("matter_id", "name", "create_time", "document_count", "ready_count", "notes", "update_time", "role", "legal_hold")
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_COUNT_FIELD_NUMBER: _ClassVar[int]
    READY_COUNT_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    LEGAL_HOLD_FIELD_NUMBER: _ClassVar[int]
    matter_id: str
    name: str
    create_time: _timestamp_pb2.Timestamp
    document_count: int
    ready_count: int
    notes: str
    update_time: _timestamp_pb2.Timestamp
    role: MatterRole
    legal_hold: LegalHold
    def __init__(self, matter_id: _Optional[str] = ..., name: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., document_count: _Optional[int] = ..., ready_count: _Optional[int] = ..., notes: _Optional[str] = ..., update_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., role: _Optional[_Union[MatterRole, str]] = ..., legal_hold: _Optional[_Union[LegalHold, _Mapping]] = ...) -> None: ...

class LegalHold(_message.Message):
    __slots__ = ("user_id", "reason", "update_time")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    reason: str
    update_time: _timestamp_pb2.Timestamp
    def __init__(self, user_id: _Optional[str] = ..., reason: _Optional[str] = ..., update_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class Document(_message.Message):
    __slots__ = ("document_id", "matter_id", "filename", "media_type", "size_bytes", "sha256", "status", "failure_reason", "character_count", "chunk_count", "page_count", "upload_time", "replaces_document_id", "failure_cause", "language", "warnings")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    FAILURE_REASON_FIELD_NUMBER: _ClassVar[int]
    CHARACTER_COUNT_FIELD_NUMBER: _ClassVar[int]
    CHUNK_COUNT_FIELD_NUMBER: _ClassVar[int]
    PAGE_COUNT_FIELD_NUMBER: _ClassVar[int]
    UPLOAD_TIME_FIELD_NUMBER: _ClassVar[int]
    REPLACES_DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    FAILURE_CAUSE_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    matter_id: str
    filename: str
    media_type: str
    size_bytes: int
    sha256: str
    status: DocumentStatus
    failure_reason: str
    character_count: int
    chunk_count: int
    page_count: int
    upload_time: _timestamp_pb2.Timestamp
    replaces_document_id: str
    failure_cause: _errors_pb2.FailureCause
    language: str
    warnings: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, document_id: _Optional[str] = ..., matter_id: _Optional[str] = ..., filename: _Optional[str] = ..., media_type: _Optional[str] = ..., size_bytes: _Optional[int] = ..., sha256: _Optional[str] = ..., status: _Optional[_Union[DocumentStatus, str]] = ..., failure_reason: _Optional[str] = ..., character_count: _Optional[int] = ..., chunk_count: _Optional[int] = ..., page_count: _Optional[int] = ..., upload_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., replaces_document_id: _Optional[str] = ..., failure_cause: _Optional[_Union[_errors_pb2.FailureCause, str]] = ..., language: _Optional[str] = ..., warnings: _Optional[_Iterable[str]] = ...) -> None: ...

class CreateMatterRequest(_message.Message):
    __slots__ = ("name", "user_id", "request_id")
    NAME_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    name: str
    user_id: str
    request_id: str
    def __init__(self, name: _Optional[str] = ..., user_id: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class CreateMatterResponse(_message.Message):
    __slots__ = ("matter",)
    MATTER_FIELD_NUMBER: _ClassVar[int]
    matter: Matter
    def __init__(self, matter: _Optional[_Union[Matter, _Mapping]] = ...) -> None: ...

class GetMatterRequest(_message.Message):
    __slots__ = ("matter_id",)
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    matter_id: str
    def __init__(self, matter_id: _Optional[str] = ...) -> None: ...

class GetMatterResponse(_message.Message):
    __slots__ = ("matter",)
    MATTER_FIELD_NUMBER: _ClassVar[int]
    matter: Matter
    def __init__(self, matter: _Optional[_Union[Matter, _Mapping]] = ...) -> None: ...

class ListMattersRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "name")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    name: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., name: _Optional[str] = ...) -> None: ...

class ListMattersResponse(_message.Message):
    __slots__ = ("matters", "next_page_token", "total_size")
    MATTERS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TOTAL_SIZE_FIELD_NUMBER: _ClassVar[int]
    matters: _containers.RepeatedCompositeFieldContainer[Matter]
    next_page_token: str
    total_size: int
    def __init__(self, matters: _Optional[_Iterable[_Union[Matter, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., total_size: _Optional[int] = ...) -> None: ...

class UpdateMatterRequest(_message.Message):
    __slots__ = ("matter", "update_mask")
    MATTER_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    matter: Matter
    update_mask: _field_mask_pb2.FieldMask
    def __init__(self, matter: _Optional[_Union[Matter, _Mapping]] = ..., update_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ...) -> None: ...

class UpdateMatterResponse(_message.Message):
    __slots__ = ("matter",)
    MATTER_FIELD_NUMBER: _ClassVar[int]
    matter: Matter
    def __init__(self, matter: _Optional[_Union[Matter, _Mapping]] = ...) -> None: ...

class DeleteMatterRequest(_message.Message):
    __slots__ = ("matter_id",)
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    matter_id: str
    def __init__(self, matter_id: _Optional[str] = ...) -> None: ...

class DeleteMatterResponse(_message.Message):
    __slots__ = ("deletion_id",)
    DELETION_ID_FIELD_NUMBER: _ClassVar[int]
    deletion_id: str
    def __init__(self, deletion_id: _Optional[str] = ...) -> None: ...

class SetLegalHoldRequest(_message.Message):
    __slots__ = ("matter_id", "reason")
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    matter_id: str
    reason: str
    def __init__(self, matter_id: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class SetLegalHoldResponse(_message.Message):
    __slots__ = ("matter",)
    MATTER_FIELD_NUMBER: _ClassVar[int]
    matter: Matter
    def __init__(self, matter: _Optional[_Union[Matter, _Mapping]] = ...) -> None: ...

class LiftLegalHoldRequest(_message.Message):
    __slots__ = ("matter_id",)
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    matter_id: str
    def __init__(self, matter_id: _Optional[str] = ...) -> None: ...

class LiftLegalHoldResponse(_message.Message):
    __slots__ = ("matter",)
    MATTER_FIELD_NUMBER: _ClassVar[int]
    matter: Matter
    def __init__(self, matter: _Optional[_Union[Matter, _Mapping]] = ...) -> None: ...

class UploadHeader(_message.Message):
    __slots__ = ("matter_id", "filename", "sha256")
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    matter_id: str
    filename: str
    sha256: str
    def __init__(self, matter_id: _Optional[str] = ..., filename: _Optional[str] = ..., sha256: _Optional[str] = ...) -> None: ...

class UploadEnd(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class UploadDocumentRequest(_message.Message):
    __slots__ = ("header", "data", "end")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    header: UploadHeader
    data: bytes
    end: UploadEnd
    def __init__(self, header: _Optional[_Union[UploadHeader, _Mapping]] = ..., data: _Optional[bytes] = ..., end: _Optional[_Union[UploadEnd, _Mapping]] = ...) -> None: ...

class UploadDocumentResponse(_message.Message):
    __slots__ = ("document", "already_existed")
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    ALREADY_EXISTED_FIELD_NUMBER: _ClassVar[int]
    document: Document
    already_existed: bool
    def __init__(self, document: _Optional[_Union[Document, _Mapping]] = ..., already_existed: _Optional[bool] = ...) -> None: ...

class GetDocumentRequest(_message.Message):
    __slots__ = ("matter_id", "document_id")
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    matter_id: str
    document_id: str
    def __init__(self, matter_id: _Optional[str] = ..., document_id: _Optional[str] = ...) -> None: ...

class GetDocumentResponse(_message.Message):
    __slots__ = ("document",)
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    document: Document
    def __init__(self, document: _Optional[_Union[Document, _Mapping]] = ...) -> None: ...

class ExportMatterRequest(_message.Message):
    __slots__ = ("matter_id", "all_conversations")
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    ALL_CONVERSATIONS_FIELD_NUMBER: _ClassVar[int]
    matter_id: str
    all_conversations: bool
    def __init__(self, matter_id: _Optional[str] = ..., all_conversations: _Optional[bool] = ...) -> None: ...

class ExportMatterResponse(_message.Message):
    __slots__ = ("data",)
    DATA_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    def __init__(self, data: _Optional[bytes] = ...) -> None: ...

class GetDocumentContentRequest(_message.Message):
    __slots__ = ("matter_id", "document_id", "offset", "length")
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    LENGTH_FIELD_NUMBER: _ClassVar[int]
    matter_id: str
    document_id: str
    offset: int
    length: int
    def __init__(self, matter_id: _Optional[str] = ..., document_id: _Optional[str] = ..., offset: _Optional[int] = ..., length: _Optional[int] = ...) -> None: ...

class DocumentContentHeader(_message.Message):
    __slots__ = ("media_type", "size_bytes", "sha256", "filename", "range_start", "range_end")
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    RANGE_START_FIELD_NUMBER: _ClassVar[int]
    RANGE_END_FIELD_NUMBER: _ClassVar[int]
    media_type: str
    size_bytes: int
    sha256: str
    filename: str
    range_start: int
    range_end: int
    def __init__(self, media_type: _Optional[str] = ..., size_bytes: _Optional[int] = ..., sha256: _Optional[str] = ..., filename: _Optional[str] = ..., range_start: _Optional[int] = ..., range_end: _Optional[int] = ...) -> None: ...

class GetDocumentContentResponse(_message.Message):
    __slots__ = ("header", "data")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    header: DocumentContentHeader
    data: bytes
    def __init__(self, header: _Optional[_Union[DocumentContentHeader, _Mapping]] = ..., data: _Optional[bytes] = ...) -> None: ...

class GetDocumentPageRequest(_message.Message):
    __slots__ = ("matter_id", "document_id", "page", "start", "end")
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    matter_id: str
    document_id: str
    page: int
    start: int
    end: int
    def __init__(self, matter_id: _Optional[str] = ..., document_id: _Optional[str] = ..., page: _Optional[int] = ..., start: _Optional[int] = ..., end: _Optional[int] = ...) -> None: ...

class PageWord(_message.Message):
    __slots__ = ("start", "end", "x", "y", "width", "height")
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    start: int
    end: int
    x: float
    y: float
    width: float
    height: float
    def __init__(self, start: _Optional[int] = ..., end: _Optional[int] = ..., x: _Optional[float] = ..., y: _Optional[float] = ..., width: _Optional[float] = ..., height: _Optional[float] = ...) -> None: ...

class GetDocumentPageResponse(_message.Message):
    __slots__ = ("page", "page_count", "has_layout", "width", "height", "words")
    PAGE_FIELD_NUMBER: _ClassVar[int]
    PAGE_COUNT_FIELD_NUMBER: _ClassVar[int]
    HAS_LAYOUT_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    WORDS_FIELD_NUMBER: _ClassVar[int]
    page: int
    page_count: int
    has_layout: bool
    width: float
    height: float
    words: _containers.RepeatedCompositeFieldContainer[PageWord]
    def __init__(self, page: _Optional[int] = ..., page_count: _Optional[int] = ..., has_layout: _Optional[bool] = ..., width: _Optional[float] = ..., height: _Optional[float] = ..., words: _Optional[_Iterable[_Union[PageWord, _Mapping]]] = ...) -> None: ...

class ListDocumentsRequest(_message.Message):
    __slots__ = ("matter_id", "page_size", "page_token")
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    matter_id: str
    page_size: int
    page_token: str
    def __init__(self, matter_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListDocumentsResponse(_message.Message):
    __slots__ = ("documents", "next_page_token", "total_size")
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TOTAL_SIZE_FIELD_NUMBER: _ClassVar[int]
    documents: _containers.RepeatedCompositeFieldContainer[Document]
    next_page_token: str
    total_size: int
    def __init__(self, documents: _Optional[_Iterable[_Union[Document, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., total_size: _Optional[int] = ...) -> None: ...

class DeleteDocumentRequest(_message.Message):
    __slots__ = ("matter_id", "document_id")
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    matter_id: str
    document_id: str
    def __init__(self, matter_id: _Optional[str] = ..., document_id: _Optional[str] = ...) -> None: ...

class DeleteDocumentResponse(_message.Message):
    __slots__ = ("deletion_id",)
    DELETION_ID_FIELD_NUMBER: _ClassVar[int]
    deletion_id: str
    def __init__(self, deletion_id: _Optional[str] = ...) -> None: ...

class WatchDocumentsRequest(_message.Message):
    __slots__ = ("matter_id", "document_ids")
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_IDS_FIELD_NUMBER: _ClassVar[int]
    matter_id: str
    document_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, matter_id: _Optional[str] = ..., document_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class WatchDocumentsResponse(_message.Message):
    __slots__ = ("document", "chunks_done", "chunks_total")
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_DONE_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_TOTAL_FIELD_NUMBER: _ClassVar[int]
    document: Document
    chunks_done: int
    chunks_total: int
    def __init__(self, document: _Optional[_Union[Document, _Mapping]] = ..., chunks_done: _Optional[int] = ..., chunks_total: _Optional[int] = ...) -> None: ...
