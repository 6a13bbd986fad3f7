import { signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { ApiError, api, pathOf } from "../core/api.js";
import type { ChatMessage, Session } from "../core/contract.js";

interface SessionPage {
  sessions: Session[];
  next_page_token: string;
}

/** The person's conversations, newest first, a page at a time, each under its title or else its first question. */
export class SessionList {
  readonly sessions = signal<readonly Session[] | undefined>(undefined);
  readonly titles = signal<ReadonlyMap<string, string>>(new Map());
  readonly error = signal<ApiError | undefined>(undefined);
  readonly hasMore = signal(false);
  private nextPage = "";

  /** Reads the first page anew. */
  async load(): Promise<void> {
    await this.read("");
  }

  async loadMore(): Promise<void> {
    if (this.nextPage) await this.read(this.nextPage);
  }

  /** Throws ApiError. */
  async rename(sessionId: string, title: string): Promise<void> {
    const { session } = await api.patch<{ session: Session }>(pathOf("sessions", sessionId), { title });
    this.sessions.value = this.sessions.peek()?.map((known) => (known.session_id === sessionId ? session : known));
  }

  /** Throws ApiError, as while an answer is being written in the conversation. */
  async delete(sessionId: string): Promise<void> {
    await api.delete(pathOf("sessions", sessionId));
    this.sessions.value = this.sessions.peek()?.filter((session) => session.session_id !== sessionId);
  }

  private async read(pageToken: string): Promise<void> {
    try {
      const page = await api.get<SessionPage>("/sessions", { query: { page_size: 20, page_token: pageToken } });
      const before = pageToken ? (this.sessions.peek() ?? []) : [];
      this.sessions.value = [...before, ...page.sessions];
      this.nextPage = page.next_page_token;
      this.hasMore.value = page.next_page_token !== "";
      this.error.value = undefined;
      await this.readTitles(page.sessions);
    } catch (error) {
      this.error.value = ApiError.from(error);
    }
  }

  /** One after the other: a title is worth no crowd of calls. */
  private async readTitles(sessions: readonly Session[]): Promise<void> {
    for (const { session_id: id, message_count: count, title: given } of sessions) {
      if (given || count === 0 || this.titles.peek().has(id)) continue;
      const path = `${pathOf("sessions", id)}/messages`;
      const { messages } = await api.get<{ messages: ChatMessage[] }>(path, { query: { page_size: 1 } });
      const title = messages[0]?.content.trim() ?? "";
      if (title) this.titles.value = new Map(this.titles.peek()).set(id, title);
    }
  }
}

export const SessionListContext = createContext<SessionList | undefined>(undefined);

export function useSessionList(): SessionList {
  const sessions = useContext(SessionListContext);
  if (!sessions) throw new Error("The component is not in a page");
  return sessions;
}
