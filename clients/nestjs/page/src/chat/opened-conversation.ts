import { effect, signal, untracked } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Navigation } from "../core/navigation.js";
import { Conversation } from "./conversation.js";
import type { PendingQuestions } from "./pending-questions.js";
import type { SessionList } from "./session-list.js";

/** The conversation that the URL names; a new one where it names none. */
export class OpenedConversation {
  private readonly opened;
  readonly current: ReadonlySignal<Conversation>;

  constructor(
    private readonly navigation: Navigation,
    private readonly sessions: SessionList,
    private readonly pending: PendingQuestions,
  ) {
    this.opened = signal(this.open(navigation.sessionId.peek()));
    this.current = this.opened;
  }

  /** Follows the navigation; returns what ends that, and the conversation. */
  follow(): () => void {
    const end = effect(() => {
      const sessionId = this.navigation.sessionId.value;
      untracked(() => {
        this.change(sessionId);
      });
    });
    return () => {
      end();
      this.opened.peek().close();
    };
  }

  private change(sessionId: string | undefined): void {
    const current = this.opened.peek();
    const isThere = sessionId === undefined ? current.isUntouched : current.sessionId === sessionId;
    if (isThere) return;
    current.close();
    this.opened.value = this.open(sessionId);
  }

  private open(sessionId: string | undefined): Conversation {
    return new Conversation(sessionId, this.pending, {
      onBegun: (begun) => {
        if (this.opened.peek().sessionId === begun) this.navigation.nameSession(begun);
      },
      onChanged: () => void this.sessions.load(),
      onContinued: (sessionId) => {
        this.navigation.openSession(sessionId);
        void this.sessions.load();
      },
    });
  }
}

export const ConversationContext = createContext<OpenedConversation | undefined>(undefined);

/** The conversation on the page; the component is drawn anew when it is another one. */
export function useConversation(): Conversation {
  const opened = useContext(ConversationContext);
  if (!opened) throw new Error("The component is not in a page");
  return opened.current.value;
}
