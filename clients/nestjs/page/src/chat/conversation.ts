import { signal } from "@preact/signals";
import type { Signal } from "@preact/signals";
import { ApiError, allPages, api, pathOf } from "../core/api.js";
import type {
  AnswerRating,
  ChatMessage,
  Decision,
  GivenRating,
  MatterContext,
  Session,
  Turn,
  TurnEvent,
} from "../core/contract.js";
import { randomId } from "../core/ids.js";
import { isLost } from "./end-words.js";
import { exchangesOf, newExchange } from "./exchange.js";
import type { Exchange } from "./exchange.js";
import type { PendingQuestions } from "./pending-questions.js";
import { withFinalState } from "./stored-turn.js";
import { followTurn } from "./turn-stream.js";
import type { TurnListener, TurnSource } from "./turn-stream.js";
import { answerText, withDecided, withEvent, withPending } from "./turn-view.js";

/** What a conversation tells the page around it. */
export interface ConversationEvents {
  /** The session exists now: it was made by its first question. */
  onBegun: (sessionId: string) => void;
  /** A turn has begun or ended. */
  onChanged: () => void;
  /** The conversation goes on in this new session. */
  onContinued: (sessionId: string) => void;
}

const NOT_SENT = "Your question could not be sent. It waits below.";
const NOT_ANSWERED = "Your question was not answered. It waits below.";

/** Messages that a conversation is read back to: the newest. */
const MOST_MESSAGES = 2_000;

/** One session's questions and answers, and the turn that runs in it. Ends with `close`. */
export class Conversation {
  readonly exchanges = signal<readonly Exchange[]>([]);
  readonly running = signal<Exchange | undefined>(undefined);
  readonly isConnected = signal(true);
  readonly isLoading = signal(false);
  readonly loadError = signal<ApiError | undefined>(undefined);
  readonly session = signal<Session | undefined>(undefined);
  readonly draft = signal("");
  /** A sentence about the draft; empty when there is none. */
  readonly notice = signal("");
  readonly sessionId: string;
  private readonly isNew: boolean;
  private readonly closing = new AbortController();

  /** A conversation without a session id is a new one. */
  constructor(
    sessionId: string | undefined,
    private readonly pending: PendingQuestions,
    private readonly events: ConversationEvents,
  ) {
    this.isNew = sessionId === undefined;
    this.sessionId = sessionId ?? randomId();
    if (sessionId !== undefined) void this.load();
  }

  /** Whether nothing was asked, or said, in this new conversation. */
  get isUntouched(): boolean {
    return this.isNew && this.exchanges.peek().length === 0;
  }

  /** Leaves the running turn to itself. */
  close(): void {
    this.closing.abort();
  }

  /** Reads the session, its messages, and follows the turn that runs. */
  async load(): Promise<void> {
    this.isLoading.value = true;
    this.loadError.value = undefined;
    try {
      const session = await this.readSession();
      if (session) await this.readMessages(session);
    } catch (error) {
      if (!this.closing.signal.aborted) this.loadError.value = ApiError.from(error);
    } finally {
      this.isLoading.value = false;
    }
  }

  /** Asks; with a turn under way the running one is shown and the question goes back into the draft. */
  async ask(question: string, matterContext: MatterContext | undefined): Promise<void> {
    if (this.running.peek()) return;
    this.notice.value = "";
    if (this.draft.peek().trim() === question.trim()) this.draft.value = "";
    const exchange = newExchange({ question, matterContext });
    this.exchanges.value = [...this.exchanges.peek().filter((known) => !known.failure.peek()), exchange];
    this.pending.keep(this.sessionId, question);
    const request = {
      message: question,
      session_id: this.sessionId,
      request_id: randomId(),
      on_disconnect: "ON_DISCONNECT_CONTINUE" as const,
      ...(matterContext && { matter_context: matterContext }),
    };
    await this.follow(exchange, { request });
  }

  /** Asks the same again. */
  async askAgain({ question, matterContext }: Exchange): Promise<void> {
    await this.ask(question, matterContext);
  }

  /** After a failure: looks for the turn again where it has begun, asks again where it has not. */
  async tryAgain(exchange: Exchange): Promise<void> {
    if (exchange.view.peek().turnId) await this.load();
    else await this.askAgain(exchange);
  }

  /** Whether `tryAgain` can bring more than the same failure. */
  canTryAgain({ view, failure }: Exchange): boolean {
    const status = failure.value?.status ?? 0;
    return view.value.turnId !== "" || status === 0 || status === 429 || status >= 500;
  }

  /**
   * Goes on in a new session, which has the items, the matter and the last answers of this one; what waits in the box goes
   * along. Throws ApiError.
   */
  async goOn(): Promise<void> {
    const { session } = await api.post<{ session: Session }>(`${pathOf("sessions", this.sessionId)}/continue`, {});
    this.pending.forget(this.sessionId);
    this.pending.keep(session.session_id, this.draft.peek());
    this.events.onContinued(session.session_id);
  }

  /** Ends the running turn; its final state follows as an event. */
  async stop(): Promise<void> {
    const exchange = this.running.peek();
    const turnId = exchange?.view.peek().turnId;
    if (!exchange || !turnId) return;
    await api.post(`${pathOf("turns", turnId)}/cancel`).catch((error: unknown) => {
      exchange.callFailure.value = ApiError.from(error);
    });
  }

  /** Decides a tool call. Throws ApiError. */
  async decide(exchange: Exchange, callId: string, decision: Decision): Promise<void> {
    const path = pathOf("turns", exchange.view.peek().turnId, "tool-calls", callId, "decision");
    await api.post(path, { decision });
    exchange.view.value = withDecided(exchange.view.peek(), callId);
  }

  /** Says how good an answer was. Throws ApiError. */
  async rate(exchange: Exchange, given: GivenRating): Promise<void> {
    const path = `${pathOf("turns", exchange.view.peek().turnId)}/rating`;
    const { rating } = await api.put<{ rating?: AnswerRating }>(path, given);
    exchange.view.value = { ...exchange.view.peek(), rating };
  }

  /** Reads how a turn of the past ended: its citations, and whether it can be asked again. */
  async complete(exchange: Exchange): Promise<void> {
    const { turnId } = exchange.view.peek();
    if (exchange.isComplete || !turnId || exchange === this.running.peek()) return;
    exchange.isComplete = true;
    const turn = await api.get<Turn>(pathOf("turns", turnId), { signal: this.closing.signal }).catch(() => undefined);
    if (turn?.final_state) exchange.view.value = withFinalState(exchange.view.peek(), turn.final_state);
  }

  /** Takes over the session as a call has answered it. */
  take(session: Session): void {
    this.session.value = session;
  }

  private async readSession(): Promise<Session | undefined> {
    try {
      const path = pathOf("sessions", this.sessionId);
      const { session } = await api.get<{ session: Session }>(path, { signal: this.closing.signal });
      this.session.value = session;
      return session;
    } catch (error) {
      if (ApiError.from(error).reason === "SESSION_NOT_FOUND") return undefined;
      throw error;
    }
  }

  private async readMessages(session: Session): Promise<void> {
    const messages = await allPages(async (page_token) => {
      const query = { page_size: 100, page_token };
      const path = `${pathOf("sessions", this.sessionId)}/messages`;
      const page = await api.get<{ messages: ChatMessage[]; next_page_token: string }>(path, {
        query,
        signal: this.closing.signal,
      });
      return { items: page.messages, next_page_token: page.next_page_token };
    }, MOST_MESSAGES);
    this.exchanges.value = exchangesOf(messages);
    if (session.running_turn_id) this.attach(session.running_turn_id);
    else this.offerUnanswered();
  }

  /**
   * A question that left nothing in the session, as when its service has died, or for which there was no room: it goes back
   * into the draft.
   */
  private offerUnanswered(): void {
    const pending = this.pending.read(this.sessionId).trim();
    this.pending.forget(this.sessionId);
    const last = this.exchanges.peek().at(-1);
    const hadNoRoom = last?.view.peek().end?.exit_reason === "EXIT_REASON_MAX_CONTEXT_REACHED";
    const isStored = pending === "" || last?.question.trim() === pending;
    if (!isStored || hadNoRoom)
      this.giveBack(
        isStored ? (last?.question ?? "") : pending,
        "Your last question was not answered. It waits below.",
      );
  }

  /** Puts a question back into the box, unless the person has begun another one. */
  private giveBack(question: string, notice: string): void {
    if (question === "" || this.draft.peek() !== "") return;
    this.draft.value = question;
    this.notice.value = notice;
  }

  /** Shows a turn that runs already, from its first event. */
  private attach(turnId: string): void {
    const known = this.exchanges.peek().filter(({ view }) => view.peek().turnId !== turnId);
    const exchange = newExchange({ question: this.pending.read(this.sessionId), turnId });
    this.exchanges.value = [...known, exchange];
    void this.follow(exchange, { turnId });
  }

  private async follow(exchange: Exchange, source: TurnSource): Promise<void> {
    this.running.value = exchange;
    this.isConnected.value = true;
    try {
      await followTurn(source, this.listener(exchange), this.closing.signal);
      exchange.isComplete = true;
    } catch (error) {
      this.failed(exchange, ApiError.from(error));
    } finally {
      this.ended(exchange);
    }
  }

  private listener(exchange: Exchange): TurnListener {
    return {
      event: (event) => {
        this.hear(exchange, event);
      },
      connected: (isConnected) => {
        this.isConnected.value = isConnected;
      },
    };
  }

  private hear(exchange: Exchange, event: TurnEvent): void {
    exchange.view.value = withEvent(exchange.view.peek(), event);
    if (event.kind === "turn_start") this.begun();
    if (event.kind === "approval_required") void this.recheckApprovals(exchange);
  }

  private begun(): void {
    this.events.onBegun(this.sessionId);
    this.events.onChanged();
  }

  /** Some of what is asked for may have been decided before this page came, or elsewhere. */
  private async recheckApprovals(exchange: Exchange): Promise<void> {
    const path = pathOf("turns", exchange.view.peek().turnId);
    const turn = await api.get<Turn>(path, { signal: this.closing.signal }).catch(() => undefined);
    if (turn?.state === "TURN_STATE_AWAITING_APPROVAL") exchange.view.value = withPending(exchange.view.peek(), turn);
  }

  private failed(exchange: Exchange, failure: ApiError): void {
    const runningTurn = failure.reason === "SESSION_BUSY" ? failure.problem.metadata?.turn_id : undefined;
    if (runningTurn === undefined) {
      exchange.failure.value = failure;
      // One whose turn has begun is looked for.
      if (exchange.view.peek().turnId === "") this.giveBack(exchange.question, NOT_SENT);
      return;
    }
    this.exchanges.value = this.exchanges.peek().filter((known) => known !== exchange);
    this.giveBack(
      exchange.question,
      "Another answer is being written in this conversation. Your question waits below.",
    );
    this.pending.forget(this.sessionId);
    // Behind the end of this call, which clears what runs.
    queueMicrotask(() => {
      this.attach(runningTurn);
    });
  }

  private ended(exchange: Exchange): void {
    if (this.closing.signal.aborted) return;
    if (this.running.peek() === exchange) this.running.value = undefined;
    this.isConnected.value = true;
    const { end } = exchange.view.peek();
    if (end) this.pending.forget(this.sessionId);
    if (end && isLost(end)) this.giveBack(exchange.question, NOT_ANSWERED);
    this.events.onChanged();
    void this.readSession().catch(() => undefined);
  }
}

/** The exchange of a turn. */
export function exchangeOf(exchanges: Signal<readonly Exchange[]>, turnId: string): Exchange | undefined {
  return exchanges.value.find(({ view }) => view.value.turnId === turnId);
}

/** Whether an answer of the past has something that only its final state tells. */
export function isWorthCompleting(exchange: Exchange, isLast: boolean): boolean {
  const view = exchange.view.peek();
  return isLast || view.end === undefined || /[[“„«"]/.test(answerText(view));
}
