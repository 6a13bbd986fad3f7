import { InterceptingCall } from "@grpc/grpc-js";
import type { CallOptions, Interceptor, Metadata } from "@grpc/grpc-js";
import type { Observable } from "rxjs";
import type { Partially } from "./client.js";
import { matterMetadata } from "./matter.js";
import type {
  AgentEvent,
  ChatRequest,
  GetTurnRequest,
  GetTurnResponse,
  ResumeChatRequest,
} from "./stubs/proviso/v1/chat.js";

/** What is needed of a ChatServiceClient, as NestJS's `getService` returns it. */
export interface ChatCalls {
  chat(request: Partially<ChatRequest>, metadata?: Metadata): Observable<AgentEvent>;
  resumeChat(request: Partially<ResumeChatRequest>, metadata?: Metadata): Observable<AgentEvent>;
  getTurn(request: Partially<GetTurnRequest>, metadata?: Metadata): Observable<GetTurnResponse>;
}

/** How calls are made. */
export interface CallSettings {
  /** Sent with every call, as in a credential. */
  metadata?: Metadata;
  /** Interceptors of every call. A call of Chat has an interceptor of its own, so those of the channel do not see it. */
  interceptors?: readonly Interceptor[];
}

/** NestJS passes what follows the metadata on to grpc-js; the interface that ts-proto writes does not say so. */
type Call<Request, Response> = (request: Request, metadata: Metadata, options: CallOptions) => Observable<Response>;

const TURN_ID_KEY = "proviso-turn-id";

/** The calls of one turn: each under the same deadline, with the same credential. */
export class TurnCalls {
  constructor(
    private readonly client: ChatCalls,
    private readonly settings: CallSettings,
    private readonly deadline: Date | undefined,
    /** What the turn is about: its calls name its matter. */
    private readonly about: Partially<ChatRequest> = {},
  ) {}

  /** Starts the turn, or attaches to the one that the same request_id began. `begun` is told its id ahead of all events. */
  chat(request: Partially<ChatRequest>, begun: (turnId: string) => void): Observable<AgentEvent> {
    const call = this.client.chat.bind(this.client) as Call<typeof request, AgentEvent>;
    return call(request, this.metadata(), this.options(tellingTurnId(begun)));
  }

  resume(request: Partially<ResumeChatRequest>): Observable<AgentEvent> {
    const call = this.client.resumeChat.bind(this.client) as Call<typeof request, AgentEvent>;
    return call(request, this.metadata(), this.options());
  }

  get(request: GetTurnRequest): Observable<GetTurnResponse> {
    const call = this.client.getTurn.bind(this.client) as Call<GetTurnRequest, GetTurnResponse>;
    return call(request, this.metadata(), this.options());
  }

  private metadata(): Metadata {
    return matterMetadata(this.about, this.settings.metadata);
  }

  private options(...own: Interceptor[]): CallOptions {
    const interceptors = [...(this.settings.interceptors ?? []), ...own];
    return { ...(interceptors.length > 0 && { interceptors }), ...(this.deadline && { deadline: this.deadline }) };
  }
}

/** NestJS shows no initial metadata; an interceptor sees it. */
function tellingTurnId(tell: (turnId: string) => void): Interceptor {
  return (options, nextCall) =>
    new InterceptingCall(nextCall(options), {
      start: (metadata, _listener, next) => {
        next(metadata, {
          onReceiveMetadata: (received, pass) => {
            const [turnId] = received.get(TURN_ID_KEY);
            if (typeof turnId === "string") tell(turnId);
            pass(received);
          },
        });
      },
    });
}
