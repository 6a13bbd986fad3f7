import { useSignal } from "@preact/signals";
import type { Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Button, EditIcon, EmptyState, ErrorNote, Icon, NameForm, Spinner } from "../core/components/index.js";
import type { Session } from "../core/contract.js";
import { formatTime } from "../core/format.js";
import { useNavigation } from "../core/navigation.js";
import { useFocusBack } from "../core/use-focus-back.js";
import { useSessionList } from "./session-list.js";

const TITLE_ID = "sessions-title";

/** The conversations: one is opened, deleted, or begun. */
export function Sessions() {
  const list = useSessionList();
  const navigation = useNavigation();
  const failure = useSignal<unknown>(undefined);
  useEffect(() => void list.load(), [list]);
  const remove = async (sessionId: string): Promise<void> => {
    failure.value = undefined;
    try {
      await list.delete(sessionId);
      if (navigation.sessionId.peek() === sessionId) navigation.openSession(undefined);
      document.getElementById(TITLE_ID)?.focus();
    } catch (error) {
      failure.value = error;
    }
  };
  const sessions = list.sessions.value;
  return (
    <section class="sessions" aria-labelledby={TITLE_ID}>
      <header class="left-head">
        <h2 id={TITLE_ID} tabIndex={-1}>
          Conversations
        </h2>
        <Button
          small
          look="quiet"
          onClick={() => {
            navigation.openSession(undefined);
          }}
        >
          New
        </Button>
      </header>
      {failure.value !== undefined && <ErrorNote error={failure.value} />}
      {list.error.value && <ErrorNote error={list.error.value} onRetry={() => void list.load()} />}
      {!sessions && !list.error.value && <Spinner label="Reading the conversations" />}
      {sessions?.length === 0 && <EmptyState title="No conversations yet" />}
      <ul>
        {sessions?.map((session) => (
          <SessionRow key={session.session_id} session={session} onDelete={() => void remove(session.session_id)} />
        ))}
      </ul>
      {list.hasMore.value && (
        <Button small look="quiet" onClick={() => void list.loadMore()}>
          Show older
        </Button>
      )}
    </section>
  );
}

function SessionRow({ session, onDelete }: { session: Session; onDelete: () => void }) {
  const list = useSessionList();
  const row = useRef<HTMLLIElement>(null);
  const asksToDelete = useSignal(false);
  const renaming = useSignal(false);
  useFocusBack(row, asksToDelete.value, ".session-delete", ".session-keep");
  useFocusBack(row, renaming.value, ".session-rename");
  const isCurrent = useNavigation().sessionId.value === session.session_id;
  const title = session.title || (list.titles.value.get(session.session_id) ?? "New conversation");
  const close = (): void => {
    renaming.value = false;
  };
  return (
    <li class={isCurrent ? "session session-current" : "session"} ref={row}>
      {renaming.value ? (
        <NameForm
          label="Title of the conversation"
          action="Rename"
          name={title}
          onName={async (name) => {
            await list.rename(session.session_id, name);
            close();
          }}
          onClose={close}
        />
      ) : (
        <>
          <SessionLink session={session} title={title} isCurrent={isCurrent} />
          {asksToDelete.value ? (
            <span class="session-confirm" role="group" aria-label={`Delete “${title}”?`}>
              <Button small look="danger" onClick={onDelete}>
                Delete
              </Button>
              <Button small look="quiet" class="session-keep" onClick={() => (asksToDelete.value = false)}>
                Keep
              </Button>
            </span>
          ) : (
            <SessionTools title={title} renaming={renaming} asksToDelete={asksToDelete} />
          )}
        </>
      )}
    </li>
  );
}

function SessionLink({ session, title, isCurrent }: { session: Session; title: string; isCurrent: boolean }) {
  const navigation = useNavigation();
  const matter = session.matter_context?.matter_name;
  return (
    <a
      href={`#/chat/${encodeURIComponent(session.session_id)}`}
      aria-current={isCurrent ? "true" : undefined}
      onClick={(event) => {
        event.preventDefault();
        navigation.openSession(session.session_id);
      }}
    >
      <span class="session-title">{title}</span>
      <span class="session-more">
        {[formatTime(session.update_time ?? session.create_time ?? ""), matter].filter(Boolean).join(" · ")}
      </span>
    </a>
  );
}

interface SessionToolsProps {
  title: string;
  renaming: Signal<boolean>;
  asksToDelete: Signal<boolean>;
}

function SessionTools({ title, renaming, asksToDelete }: SessionToolsProps) {
  return (
    <span class="session-tools">
      <Button
        small
        look="quiet"
        class="session-rename"
        aria-label={`Rename “${title}”`}
        title="Rename"
        onClick={() => (renaming.value = true)}
      >
        <EditIcon />
      </Button>
      <Button
        small
        look="quiet"
        class="session-delete"
        aria-label={`Delete “${title}”`}
        title="Delete"
        onClick={() => (asksToDelete.value = true)}
      >
        <Icon path="M3 4.5h10M6.5 4.5V3h3v1.5m-5 0l.6 8.5h5.8l.6-8.5" />
      </Button>
    </span>
  );
}
