import "reflect-metadata";
import { Inject, Injectable, Module } from "@nestjs/common";
import type { INestApplicationContext } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { ClientsModule, Transport } from "@nestjs/microservices";
import type { ChannelOptions } from "@grpc/grpc-js";
import type { ClientGrpc } from "@nestjs/microservices";
import { firstValueFrom, lastValueFrom } from "rxjs";
import { ProvisoError, agentEvents, grpcOptions, uploadRequests } from "../../src/index.js";
import type { AgentEventsOptions, Client, Partially, TurnEvent } from "../../src/index.js";
import { CHAT_SERVICE_NAME } from "../../src/stubs/proviso/v1/chat.js";
import type { ChatRequest, ChatServiceClient } from "../../src/stubs/proviso/v1/chat.js";
import { MATTER_SERVICE_NAME } from "../../src/stubs/proviso/v1/matters.js";
import type { Document, MatterServiceClient } from "../../src/stubs/proviso/v1/matters.js";
import { TOOL_SERVICE_NAME } from "../../src/stubs/proviso/v1/tools.js";
import type { ToolServiceClient } from "../../src/stubs/proviso/v1/tools.js";
import type { ToolCallDecision } from "../../src/stubs/proviso/v1/turns.js";
import type { Observable } from "rxjs";

const PROVISO = "PROVISO";

type ApprovalEvent = Extract<TurnEvent, { kind: "approvalRequired" }>;

/** What a back end would have: a provider that holds the clients. */
@Injectable()
export class Assistant {
  readonly chat: Client<ChatServiceClient>;
  readonly matters: Client<MatterServiceClient>;
  readonly tools: Client<ToolServiceClient>;

  constructor(@Inject(PROVISO) grpc: ClientGrpc) {
    this.chat = grpc.getService(CHAT_SERVICE_NAME);
    this.matters = grpc.getService(MATTER_SERVICE_NAME);
    this.tools = grpc.getService(TOOL_SERVICE_NAME);
  }

  ask(request: Partially<ChatRequest>, options?: AgentEventsOptions): Observable<TurnEvent> {
    return agentEvents(this.chat, request, options);
  }

  /** Decides on the call that the event asks about. Fails with a ProvisoError. */
  async decide(asked: ApprovalEvent, decision: ToolCallDecision): Promise<void> {
    const { turnId, approvalRequired } = asked;
    const decided = this.chat.decideToolCall({ turnId, callId: approvalRequired.callId, decision });
    await lastValueFrom(decided).catch((error: unknown) => {
      throw ProvisoError.from(error);
    });
  }

  async createMatter(name = "Northwind"): Promise<string> {
    const created = await firstValueFrom(this.matters.createMatter({ name }));
    return created.matter?.matterId ?? "";
  }

  /** Uploads a document and waits until it can be searched. */
  async upload(matterId: string, filename: string, content: Uint8Array): Promise<Document> {
    const uploaded = await firstValueFrom(this.matters.uploadDocument(uploadRequests({ matterId, filename }, content)));
    await lastValueFrom(this.matters.watchDocuments({ matterId }), { defaultValue: undefined });
    const documentId = uploaded.document?.documentId ?? "";
    const { document } = await firstValueFrom(this.matters.getDocument({ matterId, documentId }));
    if (document?.status !== "DOCUMENT_STATUS_READY") throw new Error(`not READY: ${document?.failureReason ?? ""}`);
    return document;
  }
}

/** A NestJS application whose client is registered as the README says. */
export async function nestApplication(
  url: string,
  channelOptions: ChannelOptions = {},
): Promise<INestApplicationContext> {
  const options = grpcOptions({ url, channelOptions });
  @Module({
    imports: [ClientsModule.register([{ name: PROVISO, transport: Transport.GRPC, options }])],
    providers: [Assistant],
  })
  class Application {}
  return NestFactory.createApplicationContext(Application, { logger: ["error"] });
}
