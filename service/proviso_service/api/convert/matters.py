"""Converts matters, documents and parts of their text."""

from collections import Counter
from collections.abc import Sequence

from proviso_client.v1 import matters_pb2, tools_pb2
from proviso_service.api.convert.values import DOCUMENT_STATUSES, fit, timestamp
from proviso_service.matters import Document, DocumentProgress, DocumentStatus, DocumentText, Matter


def matter(value: Matter) -> matters_pb2.Matter:
    return matters_pb2.Matter(
        matter_id=value.matter_id,
        name=value.name,
        create_time=timestamp(value.create_time),
        document_count=value.document_count,
        ready_count=value.ready_count,
    )


def document(value: Document) -> matters_pb2.Document:
    return matters_pb2.Document(
        document_id=value.document_id,
        matter_id=value.matter_id,
        filename=value.filename,
        media_type=value.media_type,
        size_bytes=value.size_bytes,
        sha256=value.sha256,
        status=DOCUMENT_STATUSES[value.status],
        failure_reason=value.failure_reason,
        character_count=value.character_count,
        chunk_count=value.chunk_count,
        page_count=value.page_count,
        upload_time=timestamp(value.upload_time),
        replaces_document_id=value.replaces_document_id,
    )


def progress(value: DocumentProgress) -> matters_pb2.WatchDocumentsResponse:
    return matters_pb2.WatchDocumentsResponse(
        document=document(value.document), chunks_done=value.chunks_done, chunks_total=value.chunks_total
    )


def matter_documents(matter_id: str, documents: Sequence[Document]) -> tools_pb2.ListMatterDocumentsResponse:
    """The list as the tool shows it; a long one is cut, its counts stay full."""
    by_status = Counter(value.status for value in documents)
    answer = tools_pb2.ListMatterDocumentsResponse(
        documents=[_listed(value) for value in documents],
        total_count=len(documents),
        matter_id=matter_id,
        summary=tools_pb2.DocumentSummary(
            ready_for_search=by_status[DocumentStatus.READY],
            still_processing=by_status[DocumentStatus.PENDING] + by_status[DocumentStatus.PROCESSING],
            failed=by_status[DocumentStatus.FAILED],
        ),
    )
    fit(answer, "documents")
    return answer


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
        file_size=value.size_bytes,
        processing_status=value.status.value,
        uploaded_at=timestamp(value.upload_time),
    )
