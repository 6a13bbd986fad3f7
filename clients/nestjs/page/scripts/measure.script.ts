// Times of the page in Chromium before the real gateway and service: how it loads, and what a person waits for. The model
// plays a script without pauses, so that its own time is not among them. Run on an idle machine.
import type { Browser, CDPSession, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launch, openWindow } from "../e2e/support/browser.js";
import { answered, ask, script, words } from "../e2e/support/chat.js";
import { Stack } from "../e2e/support/stack.js";
import { timed, watchLoading } from "./stopwatch.js";

const ROUNDS = 9;
const TOKENS = 300;
const SAID = "Either party may end this agreement on thirty days’ notice.";
const SEARCH = { calls: [{ name: "isaacus_search", args: { query: "notice" } }] };

let stack: Stack;
let browser: Browser;
let matterId: string;

beforeAll(async () => {
  stack = await Stack.start({ turns: { token_interval_s: 0 } });
  matterId = await stack.matter("Northwind", { "nda.md": `# NDA\n\n## 1. Notice\n\n${SAID}\n` });
  browser = await launch();
});

afterAll(async () => {
  await browser.close();
  await stack.stop();
});

type Times = Record<string, number>;

/** One person's visit, in a window that has nothing cached. All in milliseconds. */
async function visit(round: number): Promise<Times> {
  const { page, context, faults } = await openWindow(browser);
  const loading = await watchLoading(page, ".matter-selected");
  await page.goto(`${stack.url}/#/chat?matter=${matterId}`);
  const times = {
    ...(await loading()),
    ...(await tokens(page, await context.newCDPSession(page), round)),
    ...(await citation(page)),
    ...(await workbench(page)),
  };
  await context.close();
  expect(faults).toEqual([]);
  return times;
}

/** A question whose answer has many tokens; no two rounds ask the same, which would come from a cache. */
async function tokens(page: Page, session: CDPSession, round: number): Promise<Times> {
  const listing = { calls: [{ name: "list_matter_documents" }] };
  const question = script(listing, { tokens: [`Round ${round}. `, ...words(TOKENS - 1)], pause_ms: 5 });
  await page.getByLabel("Your question").fill(question);
  await session.send("Performance.enable");
  const first = await timed(page, "keydown", ".answer-text", () => page.keyboard.press("Enter"));
  const before = await metrics(session);
  const shown = await page.locator(".answer-text").innerText();
  await answered(page);
  const after = await metrics(session);
  const count = TOKENS - shown.trim().split(" ").length;
  const each = (...names: string[]): number =>
    (1_000 * names.reduce((sum, name) => sum + (after[name] ?? 0) - (before[name] ?? 0), 0)) / count;
  return {
    "Enter to first token shown": first,
    "per token: all work of the page": each("TaskDuration"),
    "per token: scripts": each("ScriptDuration"),
    "per token: style and layout": each("RecalcStyleDuration", "LayoutDuration"),
  };
}

async function metrics(session: CDPSession): Promise<Record<string, number>> {
  const { metrics } = await session.send("Performance.getMetrics");
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
}

async function citation(page: Page): Promise<Times> {
  await ask(page, script(SEARCH, { tokens: [`It says “${SAID}” [1].`] }));
  await answered(page, 2);
  const opening = page.getByRole("button", { name: /^Citation 1/ });
  return { "citation to highlighted words": await timed(page, "click", ".side mark", () => opening.click()) };
}

async function workbench(page: Page): Promise<Times> {
  const tab = page.getByRole("button", { name: "IQL workbench" });
  const opened = await timed(page, "click", ".workbench", () => tab.click());
  await page.getByRole("textbox", { name: "Query" }).fill("{IS right}");
  await page.getByText(/judged first|scored already/).waitFor();
  const caret = await timed(page, "input", ".fault-carets", () => page.keyboard.type("x"));
  return { "to the workbench": opened, "keystroke to caret (180 ms of them rest)": caret };
}

test("times of the page", async () => {
  // The first visit is the service's first of everything.
  await visit(0);
  const rounds: Times[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) rounds.push(await visit(round));
  const table = Object.keys(rounds[0] ?? {}).map((name) => {
    const sorted = rounds.map((times) => times[name] ?? NaN).sort((a, b) => a - b);
    const of = (index: number): string => (sorted.at(index) ?? NaN).toFixed(2);
    return [name, { "median ms": of(Math.floor(sorted.length / 2)), least: of(0), most: of(-1) }] as const;
  });
  console.table(Object.fromEntries(table));
  for (const times of rounds) for (const time of Object.values(times)) expect(time).toBeGreaterThan(0);
});
