import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Session } from "../src/core/contract.js";
import { accessibilityFaults } from "./support/accessibility.js";
import { launch, openWindow } from "./support/browser.js";
import { Gate, LISTING, answer, answered, ask, saying, script, words } from "./support/chat.js";
import { Stack } from "./support/stack.js";

const CHAT = script(LISTING, { tokens: ["Anything else?"] });

/** Characters of a conversation: room for one long question and some short ones. */
const LIMIT = 6_000;
const LONG = `${CHAT}${" and so on".repeat(300)}`;

let stack: Stack;
let browser: Browser;
let matterId: string;

beforeAll(async () => {
  stack = await Stack.start({ turns: { max_context_chars: LIMIT } });
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

  it("are given a title, and their answers a rating with a reason, which are there again after a reload", () =>
    onMatter(async (page) => {
      await ask(page, CHAT);
      await answered(page);
      const current = page.locator(".session-current");
      await current.hover();
      await current.getByRole("button", { name: /^Rename/ }).click();
      await page.getByLabel("Title of the conversation").fill("Northwind’s term");
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Poor answer" }).click();
      await page.getByLabel("What was wrong?").selectOption("Something is missing");
      await page.getByLabel("In your words").fill("No date");
      expect(await accessibilityFaults(page)).toEqual([]);
      await page.getByRole("button", { name: "Send" }).click();
      await page.getByLabel("In your words").waitFor({ state: "detached" });
      await page.reload();
      await answered(page);
      expect(await current.locator(".session-title").textContent()).toBe("Northwind’s term");
      expect(await page.getByRole("button", { name: "Poor answer" }).getAttribute("aria-pressed")).toBe("true");
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

  it("that are full go on in new ones, with their last answers and the question that found no room", () =>
    onMatter(async (page) => {
      await ask(page, LONG);
      await answered(page);
      await ask(page, CHAT);
      await answered(page, 2);
      const first = page.url();
      await ask(page, LONG);
      await page.getByText("This conversation is full.").first().waitFor();
      expect(await page.getByLabel("Your question").inputValue()).toBe(LONG);
      await page.reload();
      await page.getByText("Your last question was not answered").waitFor();
      expect(await page.getByLabel("Your question").inputValue()).toBe(LONG);
      await page.getByRole("button", { name: "Continue in a new conversation" }).click();
      await expect.poll(() => page.url()).not.toBe(first);
      await answered(page);
      expect(await page.locator(".exchange").count()).toBe(1);
      expect(await answer(page)).toBe("Anything else?");
      expect(await page.getByLabel("Your question").inputValue()).toBe(LONG);
      expect(page.url()).toContain(`matter=${matterId}`);
      await page.locator(".composer").getByRole("button", { name: "Ask" }).click();
      await answered(page, 2);
      expect(await answer(page)).toBe("Anything else?");
      expect(await page.getByLabel("Your question").inputValue()).toBe("");
    }));
});
