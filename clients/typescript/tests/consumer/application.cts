// A NestJS application in CommonJS: asks the service whose address it is given, and prints the last event.
import "reflect-metadata";
import { Inject, Injectable, Module } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { ClientsModule, Transport } from "@nestjs/microservices";
import type { ClientGrpc } from "@nestjs/microservices";
import { agentEvents, grpcOptions } from "@proviso/client";
import type { Client, TurnEvent } from "@proviso/client";
import { CHAT_SERVICE_NAME } from "@proviso/client/stubs/chat";
import type { ChatServiceClient } from "@proviso/client/stubs/chat";
import { lastValueFrom } from "rxjs";

@Injectable()
class Assistant {
  private readonly chat: Client<ChatServiceClient>;

  constructor(@Inject("PROVISO") grpc: ClientGrpc) {
    this.chat = grpc.getService(CHAT_SERVICE_NAME);
  }

  async answer(message: string): Promise<TurnEvent> {
    return lastValueFrom(agentEvents(this.chat, { message }));
  }
}

const [, , url = ""] = process.argv;

@Module({
  imports: [ClientsModule.register([{ name: "PROVISO", transport: Transport.GRPC, options: grpcOptions({ url }) }])],
  providers: [Assistant],
})
class Application {}

async function main(): Promise<void> {
  const application = await NestFactory.createApplicationContext(Application, { logger: ["error"] });
  console.log(JSON.stringify(await application.get(Assistant).answer("Hi")));
  await application.close();
}

void main();
