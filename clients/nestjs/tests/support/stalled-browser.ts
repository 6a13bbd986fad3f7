import { once } from "node:events";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";

/** The answer to a browser that has asked a gateway and takes nothing of it yet. */
export async function stalledAnswer(gatewayUrl: string): Promise<IncomingMessage> {
  const headers = { "Content-Type": "application/json" };
  const call = request(`${gatewayUrl}/chat`, { method: "POST", headers });
  call.end(JSON.stringify({ message: "Hi" }));
  const [response] = (await once(call, "response")) as [IncomingMessage];
  return response.pause();
}
