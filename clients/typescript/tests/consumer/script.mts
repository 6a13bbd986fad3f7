// A script in ES modules with Connect: asks the service whose address it is given, and prints its answer.
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { CodePoints } from "@proviso/client";
import { ChatService } from "@proviso/client/es/chat";
import { ErrorInfoSchema } from "@proviso/client/es/errors/details";

const [, , url = ""] = process.argv;
const chat = createClient(ChatService, createGrpcTransport({ baseUrl: `http://${url}` }));
for await (const { event } of chat.chat({ message: "Hi" })) {
  if (event.case === "finalState") {
    const { message } = event.value;
    console.log(JSON.stringify([message, new CodePoints(message).length, ErrorInfoSchema.typeName]));
  }
}
