"""Deletes documents of the documentation that newer files of the same name have replaced."""

from collections.abc import Iterable, Iterator, Sequence

import grpc
import grpc.aio

from proviso_client.v1 import matters_pb2
from proviso_service.cli.client import CALL_TIMEOUT_S, DOCUMENTATION, Client, all_documents
from proviso_service.cli.uploads import Outcome, Result


async def delete_replaced(client: Client, outcomes: Iterable[Outcome]) -> None:
    """Deletes what was uploaded before a document that can be searched now, under the same name. An ingest that was
    cut short is made up for by the next one."""
    searchable = {outcome.document_id for outcome in outcomes if outcome.result is not Result.FAILED}
    documents = [document async for document in all_documents(client, DOCUMENTATION)]
    for document in replaced(documents, searchable):
        request = matters_pb2.DeleteDocumentRequest(matter_id=DOCUMENTATION, document_id=document.document_id)
        try:
            await client.matters.DeleteDocument(request, timeout=CALL_TIMEOUT_S)
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.NOT_FOUND:  # another ingest was faster
                raise


def replaced(documents: Sequence[matters_pb2.Document], searchable: set[str]) -> Iterator[matters_pb2.Document]:
    """Those of `documents`, which are in the order of upload, that come before one of `searchable` with their name."""
    replacing: set[str] = set()
    for document in reversed(documents):
        name = document.filename.casefold()
        if name in replacing:
            yield document
        elif document.document_id in searchable:
            replacing.add(name)
