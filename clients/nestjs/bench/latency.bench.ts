// What the gateway adds to the first event of a turn, to its first token and to each token: its times against those of the
// TypeScript client over gRPC, turn about in one run.
import { ClientProxyFactory, Transport } from "@nestjs/microservices";
import { agentEvents, grpcOptions } from "@proviso/client";
import type { ChatCalls } from "@proviso/client";
import { lastValueFrom, tap } from "rxjs";
import { expect, test } from "vitest";
import { Browser, eventsOf } from "../tests/support/browser.js";
import { gatewayOf } from "../tests/support/gateway.js";
import { LISTING, Service, script } from "../tests/support/service.js";

const TOKENS = 300;
const ROUNDS = 15;

/** Of one turn. */
interface Times {
  firstEventMs: number;
  firstTokenMs: number;
  /** From the first token to the end, by the events between. */
  eventMs: number;
  /** CPU of this process, in which the gateway and its readers are, by the events. */
  eventCpuUs: number;
}

/** Measures a turn; `run` tells each event, and whether it is a token. */
async function timesOf(run: (told: (isToken: boolean) => void) => Promise<unknown>): Promise<Times> {
  const began = performance.now();
  const cpu = process.cpuUsage();
  let firstEventMs = NaN;
  let firstTokenMs = NaN;
  let events = 0;
  await run((isToken) => {
    const ms = performance.now() - began;
    if (events === 0) firstEventMs = ms;
    if (isToken && Number.isNaN(firstTokenMs)) firstTokenMs = ms;
    events += 1;
  });
  const used = process.cpuUsage(cpu);
  const eventMs = (performance.now() - began - firstTokenMs) / events;
  return { firstEventMs, firstTokenMs, eventMs, eventCpuUs: (used.user + used.system) / events };
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

test("latency that the gateway adds", async () => {
  const service = new Service({ turns: { token_interval_s: 0 } });
  await service.start();
  const gateway = await gatewayOf(service.url);
  const browser = new Browser(gateway.url);
  const client = ClientProxyFactory.create({ transport: Transport.GRPC, options: grpcOptions({ url: service.url }) });
  const chat = client.getService<ChatCalls>("ChatService");
  const { matter } = await browser.json<{ matter: { matter_id: string } }>("POST", "/matters", { name: "Northwind" });
  // Paced, so that the service joins no tokens: each is an event.
  const message = script(LISTING, { tokens: ["four "], repeat: TOKENS, pause_ms: 2 });

  const direct = (): Promise<Times> =>
    timesOf((told) => {
      const request = { message, matterContext: { matterId: matter.matter_id }, options: { disableCache: true } };
      return lastValueFrom(
        agentEvents(chat, request).pipe(
          tap((event) => {
            told(event.kind === "token");
          }),
        ),
      );
    });
  const throughGateway = (): Promise<Times> =>
    timesOf(async (told) => {
      const body = { message, matter_context: { matter_id: matter.matter_id }, options: { disable_cache: true } };
      for await (const { event } of eventsOf(await browser.fetch("POST", "/chat", body))) told(event === "token");
    });

  await direct();
  await throughGateway();
  const runs: { direct: Times; gateway: Times }[] = [];
  for (let round = 0; round < ROUNDS; round += 1)
    runs.push({ direct: await direct(), gateway: await throughGateway() });
  client.close();
  await gateway.close();
  await service.remove();

  for (const name of ["firstEventMs", "firstTokenMs", "eventMs", "eventCpuUs"] as const) {
    const [before, after] = [median(runs.map((run) => run.direct[name])), median(runs.map((run) => run.gateway[name]))];
    console.log(
      `${name}: gRPC ${before.toFixed(2)}, gateway ${after.toFixed(2)}, ratio ${(after / before).toFixed(2)}`,
    );
    expect(after).toBeGreaterThan(0);
  }
});
