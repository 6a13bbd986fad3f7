import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { useAccount } from "../core/account.js";
import { Button, EmptyState, ErrorNote, NameForm, Spinner } from "../core/components/index.js";
import type { Matter } from "../core/contract.js";
import { useNavigation } from "../core/navigation.js";
import { ConfirmDialog } from "./ConfirmDialog.js";
import { Documents, DOCUMENTS_TITLE_ID } from "./Documents.js";
import { MatterRow } from "./MatterRow.js";
import { Members } from "./Members.js";
import { PlusIcon } from "./icons.js";
import { MatterDocuments } from "./matter-documents.js";
import { MatterList } from "./matter-list.js";
import { mayEdit } from "./roles.js";
import { Uploads } from "./uploads.js";
import "./matters.css";

const NEW_MATTER_ID = "new-matter";

/** The matters, and the documents of the selected one. */
export function Matters() {
  const navigation = useNavigation();
  const list = useMemo(() => new MatterList(), []);
  const uploads = useMemo(() => new Uploads(), []);
  const creating = useSignal(false);
  const deleting = useSignal<Matter | undefined>(undefined);
  useEffect(() => {
    const loading = new AbortController();
    void list.load(loading.signal);
    return () => {
      loading.abort();
    };
  }, [list]);
  useEffect(() => uploads.guard(window), [uploads]);
  useNameOfSelected(list);
  const closeForm = (): void => {
    creating.value = false;
    document.getElementById(NEW_MATTER_ID)?.focus();
  };
  const selected = navigation.selectedMatter.value?.matterId;
  const self = useAccount()?.caller.value?.user_id;
  const managed = list.matters.value.find((matter) => matter.matter_id === selected);
  const documents = useMemo(() => (selected === undefined ? undefined : new MatterDocuments(selected)), [selected]);
  // A matter that is not in the list yet is left to the service.
  const editable = list.matters.value.every((matter) => matter.matter_id !== selected || mayEdit(matter));
  return (
    <section class="matters" aria-labelledby="matters-title">
      <header class="matters-head">
        <h2 id="matters-title" tabIndex={-1}>
          Matters
        </h2>
        <Button
          id={NEW_MATTER_ID}
          look="quiet"
          small
          aria-expanded={creating.value}
          onClick={() => (creating.value = !creating.value)}
        >
          <PlusIcon /> New matter
        </Button>
      </header>
      {creating.value && (
        <NameForm
          label="Name of the matter"
          action="Create"
          onName={async (name) => {
            const matter = await list.create(name);
            closeForm();
            navigation.selectMatter({ matterId: matter.matter_id, name: matter.name });
          }}
          onClose={closeForm}
        />
      )}
      <ListState list={list} />
      <ul class="matter-list" aria-label="Matters">
        {list.matters.value.map((matter) => (
          <MatterRow
            key={matter.matter_id}
            matter={matter}
            selected={matter.matter_id === selected}
            uploading={uploads.unfinished(matter.matter_id)}
            onSelect={() => {
              navigation.selectMatter({ matterId: matter.matter_id, name: matter.name });
            }}
            onRename={async (name) => {
              const renamed = await list.rename(matter.matter_id, name);
              if (matter.matter_id === selected) {
                navigation.selectMatter({ matterId: renamed.matter_id, name: renamed.name });
              }
            }}
            onDelete={() => (deleting.value = matter)}
          />
        ))}
      </ul>
      {documents && (
        <section class="documents" aria-labelledby={DOCUMENTS_TITLE_ID}>
          <h2 id={DOCUMENTS_TITLE_ID} tabIndex={-1}>
            Documents
          </h2>
          <Documents
            key={documents.matterId}
            documents={documents}
            editable={editable}
            uploads={uploads.of(documents.matterId, (document) => {
              documents.uploaded(document);
            })}
          />
        </section>
      )}
      {managed && self !== undefined && (
        <Members key={managed.matter_id} matter={managed} self={self} onOwnChange={() => void list.load()} />
      )}
      {deleting.value && (
        <ConfirmDialog
          question={`Delete the matter “${deleting.value.name}”?`}
          consequence={consequenceOf(deleting.value)}
          action="Delete matter"
          focusNext="matters-title"
          onConfirm={async () => {
            const matterId = deleting.value?.matter_id ?? "";
            await list.delete(matterId);
            uploads.forget(matterId);
            if (selected === matterId) navigation.selectMatter(undefined);
            if (navigation.openedDocument.peek()?.matterId === matterId) navigation.closeSide();
          }}
          onClose={() => (deleting.value = undefined)}
        />
      )}
    </section>
  );
}

function ListState({ list }: { list: MatterList }) {
  if (list.state.value === "loading") return <Spinner label="Loading the matters" showLabel />;
  if (list.state.value === "failed") return <ErrorNote error={list.failure.value} onRetry={() => void list.load()} />;
  if (list.matters.value.length > 0) return null;
  return (
    <EmptyState title="No matters yet">
      A matter is a case, deal or project with its documents. Begin with “New matter”.
    </EmptyState>
  );
}

function consequenceOf({ document_count: count }: Matter): string {
  if (count === 0) return "It has no documents. This cannot be undone.";
  return `Its ${count === 1 ? "document goes" : `${count} documents go`} with it. This cannot be undone.`;
}

/** Gives a matter that the URL has selected its name, as soon as it is known. */
function useNameOfSelected(list: MatterList): void {
  const navigation = useNavigation();
  useSignalEffect(() => {
    const selected = navigation.selectedMatter.value;
    if (selected?.name !== "") return;
    const matter = list.matters.value.find(({ matter_id: id }) => id === selected.matterId);
    if (matter !== undefined) navigation.selectMatter({ matterId: matter.matter_id, name: matter.name });
  });
}
