// What a token costs the client, in microseconds of CPU: of NestJS's client alone, and through agentEvents.
import { lastValueFrom, tap } from "rxjs";
import type { Observable } from "rxjs";
import { expect, test } from "vitest";
import { Assistant, nestApplication } from "../tests/support/nest.js";
import { LISTING, script } from "../tests/support/script.js";
import { Service } from "../tests/support/service.js";

const TOKENS = 3_000;
const ROUNDS = 5;

interface Cost {
  events: number;
  cpuUs: number;
}

async function costOf(events: Observable<unknown>): Promise<Cost> {
  let count = 0;
  const before = process.cpuUsage();
  await lastValueFrom(events.pipe(tap(() => (count += 1))));
  const used = process.cpuUsage(before);
  return { events: count, cpuUs: used.user + used.system };
}

/** The middle one of the costs of an event. */
function typical(costs: Cost[]): string {
  const each = costs.map((cost) => cost.cpuUs / cost.events).sort((a, b) => a - b);
  return (each[Math.floor(each.length / 2)] ?? NaN).toFixed(1);
}

test("cost of a token", async () => {
  const service = new Service({ turns: { token_interval_s: 0 } });
  await service.start();
  const nest = await nestApplication(service.url);
  const assistant = nest.get(Assistant);
  const matterContext = { matterId: await assistant.createMatter() };
  // Paced, so that the service joins no tokens: each is an event.
  const request = {
    message: script(LISTING, { tokens: ["four "], repeat: TOKENS, pause_ms: 1 }),
    matterContext,
    options: { disableCache: true },
  };
  const bare: Cost[] = [];
  const followed: Cost[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    bare.push(await costOf(assistant.chat.chat(request)));
    followed.push(await costOf(assistant.ask(request)));
  }
  await nest.close();
  await service.remove();
  console.log(`events of a turn: ${bare.map((cost) => cost.events).join(", ")}`);
  console.log(`CPU per event: NestJS alone ${typical(bare)} us, agentEvents ${typical(followed)} us`);
  expect(bare[0]?.events).toBeGreaterThan(TOKENS / 2);
});
