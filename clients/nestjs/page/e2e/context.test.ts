import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ChatMessage, RequestContext, Session } from "../src/core/contract.js";
import { agentWithApproval } from "./support/agent.js";
import { launch, openWindow } from "./support/browser.js";
import { LISTING, answer, answered, ask, script, words } from "./support/chat.js";
import { Stack } from "./support/stack.js";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const SEARCH = { calls: [{ name: "isaacus_search", args: { query: "governing law" } }] };
const SAID = "This agreement is governed by the laws of Delaware.";

const folder = mkdtempSync(join(tmpdir(), "proviso-agent-"));
let stack: Stack;
let browser: Browser;
let matterId: string;

beforeAll(async () => {
  stack = await Stack.start({ agent_dir: agentWithApproval(folder) });
  browser = await launch();
  matterId = await stack.matter("Northwind", { "nda.md": `# NDA\n\n${SAID}\n` });
});

afterAll(async () => {
  await browser.close();
  await stack.stop();
  rmSync(folder, { recursive: true });
});

async function onMatter(use: (page: Page) => Promise<void>, options: BrowserContextOptions = {}): Promise<void> {
  const { page, context, faults } = await openWindow(browser, options);
  await page.goto(`${stack.url}/#/chat?matter=${matterId}`);
  try {
    await use(page);
    expect(faults).toEqual([]);
  } finally {
    await context.close();
  }
}

function sessionOf(page: Page): string {
  return /chat\/([^?]+)/.exec(page.url())?.[1] ?? "";
}

async function storedContext(page: Page): Promise<RequestContext> {
  const path = `/sessions/${sessionOf(page)}/messages`;
  const { messages } = await stack.call<{ messages: ChatMessage[] }>("GET", path);
  const context = messages.at(-1)?.request_context;
  if (!context) throw new Error("the answer has no context");
  return context;
}

const TYPES = {
  CONTEXT_ITEM_TYPE_RULE: "rule",
  CONTEXT_ITEM_TYPE_REFERENCE: "reference",
  CONTEXT_ITEM_TYPE_TOOL: "tool",
};
const REASONS = {
  OMISSION_REASON_BELOW_THRESHOLD: "Not similar enough to the message",
  OMISSION_REASON_BUDGET: "Better ones took its place or the room",
  OMISSION_REASON_SEARCH_FAILED: "The search for items failed or took too long",
  OMISSION_REASON_DISABLED: "Switched off in the catalog",
};
const MODES = { INCLUDE_MODE_ALWAYS: "Always", INCLUDE_MODE_MANUAL: "Manual", INCLUDE_MODE_AGENT: "Agent" };

/** The rows of a panel's section: the item's name, its pills, its note. */
async function rows(page: Page, section: string): Promise<string[][]> {
  const open = page.locator(".side details", { has: page.getByRole("heading", { name: section }) });
  return open
    .locator(".item")
    .evaluateAll((items) =>
      items.map((item) => [
        item.querySelector(".item-link")?.textContent ?? "",
        ...Array.from(item.querySelectorAll(".pill"), (pill) => pill.textContent),
        ...Array.from(item.querySelectorAll(".item-note"), (note) => note.textContent),
      ]),
    );
}

describe("the context of an answer", () => {
  it("shows each item as the service has it", () =>
    onMatter(async (page) => {
      await ask(page, script(SEARCH, { tokens: [`It says “${SAID}” [1].`] }));
      await answered(page);
      await page.getByRole("button", { name: "Context used" }).click();
      await page.locator(".side .item").first().waitFor();
      const context = await storedContext(page);
      const expected = (type: string): string[][] =>
        context.items
          .filter((item) => item.type === type)
          .map((item) => [
            item.server_name ? `${item.server_name}:${item.name}` : item.name,
            ...(item.cited ? ["Used"] : []),
            MODES[item.include_mode] +
              (item.similarity_score === undefined ? "" : ` - ${item.similarity_score.toFixed(2)}`),
            ...(item.note ? [item.note] : []),
          ]);
      expect(await rows(page, "Rules")).toEqual(expected("CONTEXT_ITEM_TYPE_RULE"));
      expect(await rows(page, "Tools")).toEqual(expected("CONTEXT_ITEM_TYPE_TOOL"));
      expect(await rows(page, "References")).toEqual(expected("CONTEXT_ITEM_TYPE_REFERENCE"));
      const leftOut = context.omitted.map(({ item, reason, score }) => [
        item.server_name ? `${item.server_name}:${item.name}` : item.name,
        TYPES[item.type] + (score === undefined ? "" : ` - ${score.toFixed(2)}`),
        REASONS[reason],
      ]);
      expect(leftOut.length).toBeGreaterThan(0);
      expect(await rows(page, "Left out")).toEqual(leftOut);
      expect(await page.locator(".side .panel-subtitle").textContent()).toMatch(
        /^\d rules \(.+\), \d tools \(all always\)$/,
      );
    }));

  it("opens an item's text, and shows all that was sent", () =>
    onMatter(async (page) => {
      await ask(page, script(LISTING, { tokens: words(3) }));
      await answered(page);
      await page.getByRole("button", { name: "Context used" }).click();
      await page.getByRole("button", { name: "Plain language" }).click();
      const path = "/catalog/items/CONTEXT_ITEM_TYPE_RULE/Plain%20language";
      const { content } = await stack.call<{ content: string }>("GET", path);
      await page.locator(".item-text").waitFor();
      expect(await page.locator(".item-text").textContent()).toBe(content);
      await page.getByRole("button", { name: "Back" }).click();
      await page.getByRole("button", { name: "Show all that was sent" }).click();
      await page.getByText("This is exactly what was sent").waitFor();
      await page.getByText("Message: user").click();
      expect(await page.locator(".sent-text").nth(1).textContent()).toContain('{"steps"');
    }));
});

describe("the items of a session", () => {
  it("are added, by a near name too, and removed", () =>
    onMatter(async (page) => {
      await ask(page, script(LISTING, { tokens: words(3) }));
      await answered(page);
      await page.getByRole("button", { name: "Rules and tools" }).click();
      await page.getByLabel("Name of the item to add").fill("date and period");
      await page.getByRole("button", { name: "Add", exact: true }).click();
      await page.getByRole("alert").getByRole("button", { name: "Dates and periods" }).click();
      await page.locator(".item", { hasText: "Dates and periods" }).getByText("Manual").waitFor();
      await page.getByRole("button", { name: "Remove Plain language" }).click();
      await page.getByRole("button", { name: "Remove Plain language" }).waitFor({ state: "detached" });
      const { session } = await stack.call<{ session: Session }>("GET", `/sessions/${sessionOf(page)}`);
      const names = session.items.map(({ item }) => item.name);
      expect(names).toContain("Dates and periods");
      expect(names).not.toContain("Plain language");
      expect((await rows(page, "Rules")).map(([name]) => name)).toEqual(
        session.items.filter(({ item }) => item.type === "CONTEXT_ITEM_TYPE_RULE").map(({ item }) => item.name),
      );
    }));
});

describe("a tool that needs an approval", () => {
  const asking = script(
    { calls: [{ name: "isaacus_iql", args: { query: "{IS governing law clause}" } }] },
    { tokens: ["Anything else?"] },
  );

  it("is approved, also after the page was loaded anew", () =>
    onMatter(async (page) => {
      await ask(page, asking);
      const card = page.locator(".approval");
      await card.waitFor();
      expect(await card.locator(".arguments dd").textContent()).toBe("{IS governing law clause}");
      expect(await card.locator(".approval-time").textContent()).toMatch(/^(10:00|9:\d\d) left to decide$/);
      await page.reload();
      await card.getByRole("button", { name: "Approve once" }).click();
      await answered(page);
      expect(await card.count()).toBe(0);
      expect(await answer(page)).toBe("Anything else?");
      await page.getByText("Queried the documents with").waitFor();
      await page.reload();
      await page.getByText("Approved once: proviso:isaacus_iql").waitFor();
    }));

  it("is denied", () =>
    onMatter(async (page) => {
      await ask(page, asking);
      await page.getByRole("button", { name: "Deny" }).click();
      await answered(page);
      await page.locator(".call").getByText("Failed").click();
      expect(await page.locator(".call-output").textContent()).toBe("The person did not approve this call.");
    }));

  it("asks no more once it is approved for the session", () =>
    onMatter(async (page) => {
      await ask(page, asking);
      await page.getByRole("button", { name: "Approve for this session" }).click();
      await answered(page);
      await ask(page, asking);
      await answered(page, 2);
      expect(await answer(page)).toBe("Anything else?");
    }));
});

describe.each(["light", "dark"] as const)("in %s, accessibility", (colorScheme) => {
  it("has no serious fault in any view", () =>
    onMatter(
      async (page) => {
        expect(await faultsOf(page)).toEqual([]);
        await ask(page, script(SEARCH, { tokens: [`It says “${SAID}” [1].`] }));
        await answered(page);
        await page.locator(".call summary").click();
        expect(await faultsOf(page)).toEqual([]);
        await page.getByRole("button", { name: /^Citation 1/ }).click();
        await page.locator(".side mark").first().waitFor();
        expect(await faultsOf(page)).toEqual([]);
        await page.getByRole("button", { name: "Context used" }).click();
        await page.getByText("Left out").click();
        expect(await faultsOf(page)).toEqual([]);
        await page.getByRole("button", { name: "Rules and tools" }).click();
        expect(await faultsOf(page)).toEqual([]);
        await page.getByRole("button", { name: "Close", exact: true }).click();
        await ask(page, script({ calls: [{ name: "isaacus_iql", args: { query: "{IS indemnity clause}" } }] }));
        await page.locator(".approval").waitFor();
        expect(await faultsOf(page)).toEqual([]);
        await page.getByRole("button", { name: "Stop" }).click();
        await page.getByText("Stopped.").first().waitFor();
        await page.getByRole("button", { name: "IQL workbench" }).click();
        expect(await faultsOf(page)).toEqual([]);
      },
      { colorScheme },
    ));
});

describe("in a narrow window", () => {
  const NARROW = { viewport: { width: 420, height: 800 } };

  it("nothing has a serious fault or is wider than the window", () =>
    onMatter(async (page) => {
      const check = async (): Promise<void> => {
        expect(await faultsOf(page)).toEqual([]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(420);
      };
      await ask(page, script(SEARCH, { tokens: [`It says “${SAID}” [1].`] }));
      await answered(page);
      await check();
      await page.getByRole("button", { name: "Matters", exact: true }).click();
      await page.getByText("nda.md", { exact: true }).waitFor();
      await check();
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: /^Citation 1/ }).click();
      await page.locator(".side mark").first().waitFor();
      await check();
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Context used" }).click();
      await check();
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "IQL workbench" }).click();
      await page.getByRole("textbox", { name: "Query" }).fill("{IS terminaton clause}");
      await page.locator(".fault").waitFor();
      await check();
    }, NARROW));

  it("the menu is closed by Escape, which gives the focus back", () =>
    onMatter(async (page) => {
      const menu = page.getByRole("button", { name: "Matters", exact: true });
      await menu.click();
      await page.getByRole("button", { name: "nda.md", exact: true }).focus();
      await page.keyboard.press("Escape");
      expect(await menu.getAttribute("aria-expanded")).toBe("false");
      expect(await menu.evaluate((button) => button === document.activeElement)).toBe(true);
    }, NARROW));
});

interface AxeResults {
  violations: { id: string; impact: string | null; nodes: { html: string; failureSummary: string }[] }[];
}

/** What axe finds serious or worse. */
async function faultsOf(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => {
    return (window as unknown as { axe: { run: () => Promise<AxeResults> } }).axe.run();
  });
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  return serious.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}
