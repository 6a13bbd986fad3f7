import { Inject, Injectable } from "@nestjs/common";
import { ProvisoError } from "@proviso/client";
import type { ContinueSessionRequest, ContinueSessionResponse, Session } from "@proviso/client/stubs/sessions";
import { NEVER } from "rxjs";
import type { Caller } from "../contract/caller.js";
import { Contract } from "../contract/contract.js";
import { PROJECT_METADATA_STORE } from "./store.js";
import type { ProjectMetadata, ProjectMetadataStore, SessionKey } from "./store.js";

/** A session as a request names it. */
export interface NamedSession {
  sessionId: string;
  userId: string;
}

/** The session to go on from, and what else ContinueSession takes. */
type Continuation = Partial<ContinueSessionRequest> & { sessionId: string };

/**
 * The project metadata of sessions. Whose a session is the service says, to the caller's own credential: the store is
 * asked only for a session that the service has shown to this caller.
 */
@Injectable()
export class ProjectMetadataOfSessions {
  constructor(
    @Inject(Contract) private readonly contract: Contract,
    @Inject(PROJECT_METADATA_STORE) private readonly store: ProjectMetadataStore,
  ) {}

  /** Rejects as GetSession does where the session is unknown. */
  async read(caller: Caller, session: NamedSession): Promise<ProjectMetadata> {
    return (await this.store.read(await this.key(caller, session))) ?? { images: [], documents: [] };
  }

  /** What there is for a message: undefined where the session is yet to be made. */
  async find(caller: Caller, session: NamedSession): Promise<ProjectMetadata | undefined> {
    try {
      return await this.store.read(await this.key(caller, session));
    } catch (error) {
      if (ProvisoError.from(error).reason === "SESSION_NOT_FOUND") return undefined;
      throw error;
    }
  }

  /** Rejects as GetSession does where the session is unknown. */
  async replace(caller: Caller, session: NamedSession, metadata: ProjectMetadata): Promise<void> {
    await this.store.write(await this.key(caller, session), metadata);
  }

  /** Deletes the session and what is kept for it. Rejects as GetSession and DeleteSession do. */
  async deleteSession(caller: Caller, session: NamedSession): Promise<void> {
    const key = await this.key(caller, session);
    // A browser that leaves now does not stop it between the session and what is kept for it.
    await this.contract.ask({ ...caller, gone: NEVER }, this.contract.sessions, "deleteSession", session);
    await this.store.remove(key);
  }

  /**
   * Makes a session that goes on from this one, with what is kept for it. Rejects as GetSession and ContinueSession do, and
   * as `replace` where there is no room for another session's metadata.
   */
  async continueSession(caller: Caller, request: Continuation): Promise<ContinueSessionResponse> {
    const { sessionId, userId = "" } = request;
    const kept = await this.store.read(await this.key(caller, { sessionId, userId }));
    // A browser that leaves now does not stop it between the session and what is kept for it.
    const answer = await this.contract.ask(
      { ...caller, gone: NEVER },
      this.contract.sessions,
      "continueSession",
      request,
    );
    if (kept && answer.session) {
      const made = { sessionId: answer.session.sessionId, userId };
      await this.store.write(keyOf(made, answer.session), kept);
    }
    return answer;
  }

  private async key(caller: Caller, named: NamedSession): Promise<SessionKey> {
    const { session } = await this.contract.ask(caller, this.contract.sessions, "getSession", named);
    return keyOf(named, session);
  }
}

function keyOf(named: NamedSession, session: Session | undefined): SessionKey {
  const { seconds = "0", nanos = 0 } = session?.createTime ?? {};
  return { ...named, created: `${seconds}.${nanos}` };
}
