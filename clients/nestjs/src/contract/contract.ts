import { Inject, Injectable } from "@nestjs/common";
import type { ClientGrpc } from "@nestjs/microservices";
import { credentials } from "@grpc/grpc-js";
import type { CallOptions, Client as GrpcClient, Metadata } from "@grpc/grpc-js";
import { matterMetadata } from "@proviso/client";
import type { Client } from "@proviso/client";
import { ACCESS_SERVICE_NAME } from "@proviso/client/stubs/access";
import type { AccessServiceClient } from "@proviso/client/stubs/access";
import { CATALOG_SERVICE_NAME } from "@proviso/client/stubs/catalog";
import type { CatalogServiceClient } from "@proviso/client/stubs/catalog";
import { CHAT_SERVICE_NAME } from "@proviso/client/stubs/chat";
import type { ChatServiceClient } from "@proviso/client/stubs/chat";
import { MATTER_SERVICE_NAME } from "@proviso/client/stubs/matters";
import type { MatterServiceClient } from "@proviso/client/stubs/matters";
import { SESSION_SERVICE_NAME } from "@proviso/client/stubs/sessions";
import type { SessionServiceClient } from "@proviso/client/stubs/sessions";
import { TOOL_SERVICE_NAME } from "@proviso/client/stubs/tools";
import type { ToolServiceClient } from "@proviso/client/stubs/tools";
import { firstValueFrom, race } from "rxjs";
import type { Observable } from "rxjs";
import type { Settings } from "../settings.js";
import { SETTINGS } from "../settings.module.js";
import type { Caller } from "./caller.js";
import type { Gate } from "./gate.js";
import { toJson } from "./json.js";
import type { Json } from "./json.js";

/** The token of NestJS's gRPC client. */
export const PROVISO = Symbol("proviso");

/** NestJS passes what follows the metadata on to grpc-js; the interfaces that ts-proto writes do not say so. */
type Call<Request, Answer> = (request: Request, metadata: Metadata, options: CallOptions) => Observable<Answer>;

type Requests<Service, Method extends keyof Service> = Service[Method] extends (
  request: infer Request,
  ...rest: never[]
) => unknown
  ? Request
  : never;
type Answers<Service, Method extends keyof Service> = Service[Method] extends (
  ...all: never[]
) => Observable<infer Answer>
  ? Answer
  : never;

/** The service's methods. */
@Injectable()
export class Contract {
  readonly access: Client<AccessServiceClient>;
  readonly catalog: Client<CatalogServiceClient>;
  readonly chat: Client<ChatServiceClient>;
  readonly matters: Client<MatterServiceClient>;
  readonly sessions: Client<SessionServiceClient>;
  readonly tools: Client<ToolServiceClient>;
  /** MatterService as grpc-js has it: its writes can be waited for. */
  readonly rawMatters: GrpcClient;

  constructor(
    @Inject(PROVISO) grpc: ClientGrpc,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {
    this.access = grpc.getService(ACCESS_SERVICE_NAME);
    this.catalog = grpc.getService(CATALOG_SERVICE_NAME);
    this.chat = grpc.getService(CHAT_SERVICE_NAME);
    this.matters = grpc.getService(MATTER_SERVICE_NAME);
    this.sessions = grpc.getService(SESSION_SERVICE_NAME);
    this.tools = grpc.getService(TOOL_SERVICE_NAME);
    this.rawMatters = grpc.getClientByServiceName(MATTER_SERVICE_NAME);
  }

  /**
   * Makes a unary call as the caller, and ends it when the browser goes away. Rejects as grpc-js does, with
   * DEADLINE_EXCEEDED after the time limit too.
   */
  ask<Service extends object, Method extends keyof Service & string>(
    caller: Caller,
    service: Service,
    method: Method,
    request: Requests<Service, Method>,
    timeoutMs = this.settings.callTimeoutMs,
  ): Promise<Answers<Service, Method>> {
    const deadline = Date.now() + timeoutMs;
    return firstValueFrom(race(bound(service, method)(request, caller.metadata, { deadline }), caller.gone));
  }

  /** The answer of a unary call as JSON; see `ask`. */
  async json<Service extends object, Method extends keyof Service & string>(
    ...call: Parameters<typeof this.ask<Service, Method>>
  ): Promise<Json> {
    return toJson((await this.ask(...call)) as object);
  }

  /** Makes a call that streams its answers through a gate, as the caller. */
  stream<Service extends object, Method extends keyof Service & string>(
    caller: Caller,
    service: Service,
    method: Method,
    request: Requests<Service, Method>,
    gate: Gate,
  ): Observable<Answers<Service, Method>> {
    return bound(service, method)(request, matterMetadata(request as object, caller.metadata), {
      interceptors: [gate.interceptor],
    });
  }
}

/** How the service's certificate is checked, and the one that it is shown. */
export function credentialsOf({ tls, tlsCa, clientCertificate }: Settings): ReturnType<typeof credentials.createSsl> {
  if (!tls) return credentials.createInsecure();
  return credentials.createSsl(tlsCa ?? null, clientCertificate?.key, clientCertificate?.certificate);
}

function bound<Service extends object, Method extends keyof Service & string>(
  service: Service,
  method: Method,
): Call<Requests<Service, Method>, Answers<Service, Method>> {
  const call = service[method] as Call<Requests<Service, Method>, Answers<Service, Method>>;
  return call.bind(service);
}
