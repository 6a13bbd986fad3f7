"""Converts matters, documents and parts of their text."""

from collections import Counter
from collections.abc import Sequence

from proviso_client.v1 import matters_pb2, tools_pb2
from proviso_service.access import MatterRole
from proviso_service.api.convert.values import DOCUMENT_STATUSES, failure_cause, timestamp
from proviso_service.matters import (
    Document,
    DocumentContent,
    DocumentPage,
    DocumentProgress,
    DocumentStatus,
    DocumentText,
    LegalHold,
    Matter,
    Member,
)
from proviso_service.paging import Page

MATTER_ROLES = {
    MatterRole.READER: matters_pb2.MATTER_ROLE_READER,
    MatterRole.EDITOR: matters_pb2.MATTER_ROLE_EDITOR,
    MatterRole.OWNER: matters_pb2.MATTER_ROLE_OWNER,
}


def member(value: Member) -> matters_pb2.MatterMember:
    return matters_pb2.MatterMember(
        user_id=value.user, role=MATTER_ROLES[value.role], create_time=timestamp(value.create_time)
    )


def matter(value: Matter, role: MatterRole) -> matters_pb2.Matter:
    """`role` is the caller's."""
    return matters_pb2.Matter(
        matter_id=value.matter_id,
        name=value.name,
        create_time=timestamp(value.create_time),
        document_count=value.document_count,
        ready_count=value.ready_count,
        notes=value.notes,
        update_time=timestamp(value.update_time or value.create_time),
        role=MATTER_ROLES[role],
        legal_hold=_legal_hold(value.hold) if value.hold else None,
    )


def _legal_hold(value: LegalHold) -> matters_pb2.LegalHold:
    return matters_pb2.LegalHold(user_id=value.user, reason=value.reason, update_time=timestamp(value.time))


def document(value: Document, warnings: Sequence[str] = ()) -> matters_pb2.Document:
    return matters_pb2.Document(
        document_id=value.document_id,
        matter_id=value.matter_id,
        filename=value.filename,
        media_type=value.media_type,
        size_bytes=value.size_bytes,
        sha256=value.sha256,
        status=DOCUMENT_STATUSES[value.status],
        failure_reason=value.failure_reason,
        failure_cause=failure_cause(value.failure_cause),
        character_count=value.character_count,
        chunk_count=value.chunk_count,
        page_count=value.page_count,
        upload_time=timestamp(value.upload_time),
        replaces_document_id=value.replaces_document_id,
        language=value.language,
        warnings=warnings,
    )


def content_header(value: DocumentContent) -> matters_pb2.GetDocumentContentResponse:
    header = matters_pb2.DocumentContentHeader(
        media_type=value.document.media_type,
        size_bytes=value.document.size_bytes,
        sha256=value.document.sha256,
        filename=value.document.filename,
        range_start=value.start,
        range_end=value.end,
    )
    return matters_pb2.GetDocumentContentResponse(header=header)


def document_page(value: DocumentPage) -> matters_pb2.GetDocumentPageResponse:
    width, height = (value.layout.width, value.layout.height) if value.layout else (0.0, 0.0)
    return matters_pb2.GetDocumentPageResponse(
        page=value.number,
        page_count=value.page_count,
        has_layout=value.layout is not None,
        width=width,
        height=height,
        words=[
            matters_pb2.PageWord(
                start=word.start,
                end=word.end,
                x=word.left * width,
                y=word.top * height,
                width=(word.right - word.left) * width,
                height=(word.bottom - word.top) * height,
            )
            for word in value.words
        ],
    )


def progress(value: DocumentProgress, warnings: Sequence[str]) -> matters_pb2.WatchDocumentsResponse:
    return matters_pb2.WatchDocumentsResponse(
        document=document(value.document, warnings), chunks_done=value.chunks_done, chunks_total=value.chunks_total
    )


def matter_documents(
    matter_id: str, page: Page[Document], documents: Sequence[Document]
) -> tools_pb2.ListMatterDocumentsResponse:
    """A page of a matter's documents, with the counts of all of them."""
    by_status = Counter(value.status for value in documents)
    return tools_pb2.ListMatterDocumentsResponse(
        documents=[_listed(value) for value in page.items],
        next_page_token=page.next_token,
        total_size=page.total_size,
        matter_id=matter_id,
        summary=tools_pb2.DocumentSummary(
            ready_for_search=by_status[DocumentStatus.READY],
            still_processing=by_status[DocumentStatus.PENDING] + by_status[DocumentStatus.PROCESSING],
            failed=by_status[DocumentStatus.FAILED],
        ),
    )


def document_text(value: DocumentText) -> tools_pb2.GetDocumentTextResponse:
    return tools_pb2.GetDocumentTextResponse(
        text=value.text,
        filename=value.document.filename,
        document_id=value.document.document_id,
        file_type=value.document.file_type,
        character_count=value.character_count,
        truncated=value.truncated,
        start=value.start,
        page=value.page,
        section_path=value.section_path,
        next_start=value.next_start,
    )


def _listed(value: Document) -> tools_pb2.MatterDocument:
    return tools_pb2.MatterDocument(
        document_id=value.document_id,
        filename=value.filename,
        file_type=value.file_type,
        size_bytes=value.size_bytes,
        status=DOCUMENT_STATUSES[value.status],
        upload_time=timestamp(value.upload_time),
    )
