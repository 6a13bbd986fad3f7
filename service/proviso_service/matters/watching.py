"""Watching documents until each is READY, FAILED or deleted."""

from collections.abc import AsyncGenerator, Mapping, Sequence

from proviso_service.errors import DocumentNotFound
from proviso_service.matters.model import Document, DocumentProgress
from proviso_service.matters.ports import MatterStore
from proviso_service.matters.progress import Changes, ProgressBoard

REREAD_S = 5.0
"""Silence after which rows are read again: what another process or a failed worker did is not announced here."""


class DocumentWatch:
    """Some documents of a matter, as they change."""

    def __init__(
        self, store: MatterStore, board: ProgressBoard, tenant: str, matter_id: str, reread_s: float = REREAD_S
    ) -> None:
        self._store = store
        self._board = board
        self._tenant = tenant
        self._matter_id = matter_id
        self._reread_s = reread_s

    async def watch(self, document_ids: Sequence[str]) -> AsyncGenerator[DocumentProgress, None]:
        """The state of each document, then each change; ends when all are final. Raises DocumentNotFound at once for an
        unknown id, and at the end when one was deleted meanwhile; Draining when the service stops."""
        # The subscription comes before the rows are read, so that no change falls between.
        with self._board.changes(document_ids) as changes:
            waiting: dict[str, DocumentProgress] = {}
            for progress in await self._states(document_ids):
                yield progress
                if not progress.document.status.is_final:
                    waiting[progress.document.document_id] = progress
            deleted = ""
            while waiting:
                for document_id, changed in (await self._changed(changes, waiting)).items():
                    if document_id not in waiting:
                        continue
                    if changed is not None:
                        yield changed
                    if changed is None or changed.document.status.is_final:
                        del waiting[document_id]
                        deleted = deleted or (document_id if changed is None else "")
                    else:
                        waiting[document_id] = changed
            if deleted:
                raise DocumentNotFound(deleted)

    async def _states(self, document_ids: Sequence[str]) -> Sequence[DocumentProgress]:
        documents = await self._documents()
        for document_id in document_ids:
            if document_id not in documents:
                raise DocumentNotFound(document_id)
        return [self._board.progress_of(documents[document_id]) for document_id in document_ids]

    async def _changed(
        self, changes: Changes, waiting: Mapping[str, DocumentProgress]
    ) -> Mapping[str, DocumentProgress | None]:
        if announced := await changes.next(self._reread_s):
            return announced
        documents = await self._documents()
        states = {
            document_id: self._board.progress_of(documents[document_id]) if document_id in documents else None
            for document_id in waiting
        }
        return {document_id: state for document_id, state in states.items() if state != waiting[document_id]}

    async def _documents(self) -> Mapping[str, Document]:
        documents = await self._store.all_documents(self._tenant, self._matter_id)
        return {document.document_id: document for document in documents}
