import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Document } from "../core/contract.js";
import { EmptyState, ErrorNote, Spinner } from "../core/components/index.js";
import { useNavigation } from "../core/navigation.js";
import { ConfirmDialog } from "./ConfirmDialog.js";
import { DocumentRow } from "./DocumentRow.js";
import { Uploader } from "./Uploader.js";
import { announcement } from "./document-states.js";
import type { DocumentStates } from "./document-states.js";
import type { MatterDocuments } from "./matter-documents.js";
import type { UploadQueue } from "./upload-queue.js";

/** Id of the heading above the documents. */
export const DOCUMENTS_TITLE_ID = "documents-title";

interface DocumentsProps {
  documents: MatterDocuments;
  uploads: UploadQueue;
  /** Whether the caller may upload and delete. */
  editable: boolean;
}

/** The documents of the selected matter: upload, state, opening, choosing, deleting. */
export function Documents({ documents, uploads, editable }: DocumentsProps) {
  const navigation = useNavigation();
  const deleting = useSignal<Document | undefined>(undefined);
  useEffect(() => {
    documents.open();
    return () => {
      documents.close();
    };
  }, [documents]);
  useNameOfSelected(documents);
  const events = [...documents.states.value.values()];
  const selected = navigation.selectedDocument.value?.documentId;
  const list = (
    <>
      <Connection documents={documents} />
      <Announcer documents={documents} />
      <ul class="files" aria-label="Documents">
        {events.map((event) => {
          const { document_id: documentId, matter_id: matterId, filename: name } = event.document;
          const chosen = selected === documentId;
          return (
            <DocumentRow
              key={documentId}
              event={event}
              chosen={chosen}
              opened={navigation.openedDocument.value?.documentId === documentId}
              onOpen={() => {
                navigation.openDocument({ matterId, documentId, filename: name });
              }}
              onChoose={() => {
                navigation.selectDocument(chosen ? undefined : { documentId, name });
              }}
              onDelete={editable ? () => (deleting.value = event.document) : undefined}
            />
          );
        })}
      </ul>
      {deleting.value && (
        <ConfirmDialog
          question={`Delete “${deleting.value.filename}”?`}
          consequence="Its text, its passages and their scores go with it. Answers that cite it stay, but the citations can no longer be opened."
          action="Delete document"
          focusNext={DOCUMENTS_TITLE_ID}
          onConfirm={() => deleted(documents, deleting.value?.document_id ?? "", navigation)}
          onClose={() => (deleting.value = undefined)}
        />
      )}
    </>
  );
  return editable ? <Uploader queue={uploads}>{list}</Uploader> : list;
}

async function deleted(
  documents: MatterDocuments,
  documentId: string,
  navigation: ReturnType<typeof useNavigation>,
): Promise<void> {
  await documents.delete(documentId);
  if (navigation.selectedDocument.peek()?.documentId === documentId) navigation.selectDocument(undefined);
  if (navigation.openedDocument.peek()?.documentId === documentId) navigation.closeSide();
}

/** What there is to say about the list as a whole. */
function Connection({ documents }: { documents: MatterDocuments }) {
  const isEmpty = useComputed(() => documents.states.value.size === 0);
  switch (documents.connection.value) {
    case "loading":
      return isEmpty.value ? <Spinner label="Loading the documents" showLabel /> : null;
    case "live":
      return isEmpty.value ? <EmptyState title="No documents yet" /> : null;
    case "cut":
      return <Spinner label="The connection is cut; trying again" showLabel />;
    case "failed":
      return (
        <ErrorNote
          error={documents.failure.value}
          onRetry={() => {
            documents.open();
          }}
        />
      );
  }
}

/** Reads out which documents have become ready or have failed. */
function Announcer({ documents }: { documents: MatterDocuments }) {
  const before = useRef<DocumentStates>(new Map());
  const words = useSignal("");
  useSignalEffect(() => {
    const now = documents.states.value;
    const news = announcement(before.current, now);
    before.current = now;
    if (news !== "") words.value = news;
  });
  return (
    <p class="visually-hidden" role="status">
      {words.value}
    </p>
  );
}

/** Gives a document that the URL has selected its name, as soon as it is known. */
function useNameOfSelected(documents: MatterDocuments): void {
  const navigation = useNavigation();
  useSignalEffect(() => {
    const selected = navigation.selectedDocument.value;
    if (selected?.name !== "") return;
    const name = documents.states.value.get(selected.documentId)?.document.filename;
    if (name !== undefined) navigation.selectDocument({ documentId: selected.documentId, name });
  });
}
