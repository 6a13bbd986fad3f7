import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Session } from "../src/core/contract.js";
import { launch, openWindow } from "./support/browser.js";
import { Gate, LISTING, answer, answered, ask, saying, script, words } from "./support/chat.js";
import { Stack } from "./support/stack.js";

const CHAT = script(LISTING, { tokens: ["Anything else?"] });

let stack: Stack;
let browser: Browser;
let matterId: string;

beforeAll(async () => {
  stack = await Stack.start();
  browser = await launch();
  matterId = await stack.matter("Northwind", { "nda.md": "# NDA\n\nThe term is two years.\n" });
});

afterAll(async () => {
  await browser.close();
  await stack.stop();
});

async function onMatter(use: (page: Page, other: () => Promise<Page>) => Promise<void>): Promise<void> {
  const { page, context, faults } = await openWindow(browser);
  await page.goto(`${stack.url}/#/chat?matter=${matterId}`);
  try {
    await use(page, () => context.newPage());
    expect(faults).toEqual([]);
  } finally {
    await context.close();
  }
}

describe("conversations", () => {
  it("are begun, opened again and deleted", () =>
    onMatter(async (page) => {
      await ask(page, CHAT);
      await answered(page);
      const first = page.url();
      await page
        .getByRole("region", { name: "Conversations" })
        .getByRole("button", { name: "New", exact: true })
        .click();
      await page.getByText("Ask about your documents").waitFor();
      await ask(page, CHAT);
      await answered(page);
      expect(page.url()).not.toBe(first);
      await page.goBack();
      await answered(page);
      expect(page.url()).toBe(first);
      expect(await answer(page)).toBe("Anything else?");
      const current = page.locator(".session-current");
      await current.hover();
      await current.getByRole("button", { name: /^Delete/ }).click();
      expect(await page.locator(":focus").textContent()).toBe("Keep");
      await page.keyboard.press("Enter");
      expect(await page.locator(":focus").getAttribute("class")).toContain("session-delete");
      await page.keyboard.press("Enter");
      await current.getByRole("button", { name: "Delete", exact: true }).click();
      await page.getByText("Ask about your documents").waitFor();
      await expect.poll(() => page.locator(":focus").textContent()).toBe("Conversations");
      const { sessions } = await stack.call<{ sessions: Session[] }>("GET", "/sessions");
      expect(sessions.map(({ session_id }) => session_id)).toHaveLength(1);
      expect(first).not.toContain(sessions[0]?.session_id);
    }));

  it("show the answer that is being written when something else is asked, and keep that question", () =>
    onMatter(async (page, other) => {
      await ask(page, CHAT);
      await answered(page);
      const second = await other();
      await second.goto(page.url());
      await answered(second);
      const gate = new Gate();
      await ask(page, script(LISTING, gate.ending(words(20), 30)));
      await saying(page, "w1 ");
      await ask(second, CHAT);
      await second.getByText("Your question waits below.").waitFor();
      await saying(second, "w0 w1 ");
      expect(await second.getByLabel("Your question").inputValue()).toBe(CHAT);
      gate.open();
      await answered(second, 2);
      expect(await answer(second)).toBe(words(20).join("").trim());
      await second.locator(".composer").getByRole("button", { name: "Ask" }).click();
      await answered(second, 3);
      gate.remove();
    }));
});
