import { Metadata, Server, ServerCredentials, loadPackageDefinition } from "@grpc/grpc-js";
import type {
  GrpcObject,
  ServerWritableStream,
  ServiceClientConstructor,
  ServiceDefinition,
  sendUnaryData,
} from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { create, toBinary } from "@bufbuild/protobuf";
import type { Message } from "@bufbuild/protobuf";
import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
import { AnySchema, anyPack } from "@bufbuild/protobuf/wkt";
import { StatusSchema } from "../../src/es/google/rpc/status_pb.js";
import { loaderOptions, protoFiles, protoRoot } from "../../src/index.js";
import type { Partially } from "../../src/index.js";
import type { AgentEvent, ChatRequest, GetTurnResponse, ResumeChatRequest } from "../../src/stubs/proviso/v1/chat.js";

type Stream<Request> = ServerWritableStream<Request, Partially<AgentEvent>>;

/** What the server does with each call. */
export interface Behaviour {
  chat?: (call: Stream<ChatRequest>) => void;
  resumeChat?: (call: Stream<ResumeChatRequest>) => void;
  getTurn?: () => Partially<GetTurnResponse>;
}

/** ChatService on a real wire, doing what no sound service does. */
export class WireServer {
  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async start(behaviour: Behaviour): Promise<WireServer> {
    const loaded = loadPackageDefinition(loadSync([...protoFiles], { ...loaderOptions, includeDirs: [protoRoot] }));
    const v1 = (loaded.proviso as GrpcObject).v1 as GrpcObject;
    const server = new Server();
    const { service } = v1.ChatService as ServiceClientConstructor;
    server.addService(unreadably(service), {
      ...behaviour,
      getTurn: (_call: unknown, answer: sendUnaryData<Partially<GetTurnResponse>>) => {
        answer(null, behaviour.getTurn?.());
      },
    });
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
        if (error) reject(error);
        else resolve(port);
      });
    });
    return new WireServer(server, `127.0.0.1:${port}`);
  }

  close(): void {
    this.server.forceShutdown();
  }
}

/** What no client can read, sent as an event. */
export const UNREADABLE: Partially<AgentEvent> = {};

function unreadably(service: ServiceDefinition): ServiceDefinition {
  const { Chat: chat } = service;
  if (!chat) throw new Error("a service without Chat");
  const responseSerialize = (event: object): Buffer =>
    event === UNREADABLE ? Buffer.from([0xff]) : chat.responseSerialize(event);
  return { ...service, Chat: { ...chat, responseSerialize } };
}

/** Tells the turn's id in the initial metadata. */
export function tellTurnId(call: Stream<ChatRequest>, turnId: string): void {
  const metadata = new Metadata();
  metadata.set("proviso-turn-id", turnId);
  call.sendMetadata(metadata);
}

/** Sends the last event. */
export function last<Request>(call: Stream<Request>, event: Partially<AgentEvent>): void {
  call.write(event);
  call.end();
}

interface Detail<T extends Message> {
  schema: GenMessage<T>;
  message: T;
}

/** Fails a call as the service does: a status, and its details in the trailers. */
export function fail<T extends Message>(
  call: { emit: (event: "error", error: object) => unknown },
  code: number,
  ...details: Detail<T>[]
): void {
  const packed = details.map(({ schema, message }) => create(AnySchema, anyPack(schema, message)));
  const metadata = new Metadata();
  const status = create(StatusSchema, { code, message: "no", details: packed });
  metadata.set("grpc-status-details-bin", Buffer.from(toBinary(StatusSchema, status)));
  call.emit("error", { code, details: "no", metadata });
}
