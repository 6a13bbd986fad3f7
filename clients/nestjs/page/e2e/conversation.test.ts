import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Document } from "../src/core/contract.js";
import { launch, openWindow } from "./support/browser.js";
import { Gate, LISTING, answer, answered, ask, saying, script, watchAnswer, words } from "./support/chat.js";
import { Network } from "./support/proxy.js";
import { Stack } from "./support/stack.js";

const NDA = `# Mutual NDA

## 1. Notice ⚖️

Either party may end this agreement on thirty (30) days’ written notice to the other party.

## 2. Governing Law

This agreement is governed by the laws of the State of Delaware.
`;
const QUOTE = "thirty (30) days’ written notice";

let stack: Stack;
let browser: Browser;
let matterId: string;
let brokenId: string;

beforeAll(async () => {
  stack = await Stack.start();
  browser = await launch();
  matterId = await stack.matter("Northwind", { "nda.md": NDA, "broken.pdf": "no PDF at all" });
  brokenId = await documentOf(matterId, "broken.pdf");
});

afterAll(async () => {
  await browser.close();
  await stack.stop();
});

async function documentOf(matter: string, filename: string): Promise<string> {
  const { documents } = await stack.call<{ documents: Document[] }>("GET", `/matters/${matter}/documents`);
  return documents.find((document) => document.filename === filename)?.document_id ?? "";
}

/** A page on the matter, and its end with what must be true of every page. */
async function onMatter(use: (opened: Awaited<ReturnType<typeof openWindow>>) => Promise<void>, url = stack.url) {
  const opened = await openWindow(browser);
  await opened.page.goto(`${url}/#/chat?matter=${matterId}`);
  try {
    await use(opened);
    expect(opened.faults).toEqual([]);
  } finally {
    await opened.context.close();
  }
}

/** Texts that do not go on from the one before. */
function steps(texts: readonly string[]): string[] {
  return texts.filter((text, index) => !text.startsWith(texts[index - 1] ?? ""));
}

describe("asking", () => {
  it("shows the tokens one by one", () =>
    onMatter(async ({ page }) => {
      const seen = await watchAnswer(page);
      // A machine that is busy for a moment shows some together.
      await ask(page, script(LISTING, { tokens: words(40), pause_ms: 60 }));
      await answered(page);
      const texts = await seen();
      expect(texts.length).toBeGreaterThanOrEqual(10);
      expect(steps(texts)).toEqual([]);
      expect(texts.at(-1)?.trim()).toBe(words(40).join("").trim());
    }));

  it("takes discarded text away, and tells of the tool", () =>
    onMatter(async ({ page }) => {
      const seen = await watchAnswer(page);
      const looking = { tokens: ["Let me ", "look."], pause_ms: 1_000, calls: [{ name: "list_matter_documents" }] };
      await ask(page, script(looking, { tokens: words(3), pause_ms: 60 }));
      await answered(page);
      expect(await seen()).toContain("Let me look.");
      expect(await answer(page)).toBe("w0 w1 w2");
      await page.getByText("Listed the matter’s documents").click();
      expect(await page.locator(".call-output").textContent()).toContain("nda.md");
    }));

  it("opens a citation at the quoted words, behind emoji too", () =>
    onMatter(async ({ page }) => {
      const search = { calls: [{ name: "isaacus_search", args: { query: "notice period" } }] };
      await ask(page, script(search, { tokens: ["👍 It says ", `“${QUOTE}” [1].`] }));
      await answered(page);
      expect(await answer(page)).toBe(`👍 It says “${QUOTE}” 1.`);
      await page.getByRole("button", { name: /^Citation 1: nda.md/ }).click();
      const marked = page.locator(".side mark");
      await marked.first().waitFor();
      expect((await marked.allTextContents()).join("")).toBe(QUOTE);
      expect(await marked.first().isVisible()).toBe(true);
      await page.keyboard.press("Escape");
      expect(await page.locator(":focus").getAttribute("class")).toBe("citation");
    }));

  it("is stopped by a person, without a word of the answer left", () =>
    onMatter(async ({ page }) => {
      await ask(page, script({ tokens: words(3), hold: true }));
      await saying(page, "w0 w1 w2");
      await page.getByRole("button", { name: "Stop" }).click();
      await page.locator(".turn-end").getByText("Stopped.").waitFor();
      expect(await page.locator(".answer-text").count()).toBe(0);
      expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0);
    }));

  it("begins a new line with Shift and Enter", () =>
    onMatter(async ({ page }) => {
      await page.getByLabel("Your question").fill("one");
      await page.keyboard.press("Shift+Enter");
      await page.keyboard.type("two");
      expect(await page.getByLabel("Your question").inputValue()).toBe("one\ntwo");
    }));

  it("offers to ask again where that can help", () =>
    onMatter(async ({ page }) => {
      await ask(page, script({ tokens: [] }, { tokens: [] }));
      await page.locator(".turn-end").getByText("The language model returned nothing.").waitFor();
      await page.getByRole("button", { name: "Try again" }).click();
      await answered(page, 2);
    }));

  it("offers the matters where it needs one, and asks again about the chosen one", async () => {
    const { page, context } = await openWindow(browser);
    await page.goto(stack.url);
    await ask(page, script(LISTING, { tokens: words(3) }));
    await page.getByRole("group", { name: "Ask about a matter" }).getByRole("button", { name: "Northwind" }).click();
    await answered(page, 2);
    expect(await answer(page)).toBe("w0 w1 w2");
    expect(page.url()).toContain(`matter=${matterId}`);
    await context.close();
  });
});

describe("a question about a document that cannot be asked about", () => {
  it.each([
    ["was not read", () => brokenId, "could not be read"],
    ["is not in the matter", () => "6f0e2a52-6d3c-4a63-9a86-1b7f4c1e2d3f", "Which of these do you mean?"],
  ])("that %s says so, and is asked again about another", async (_, documentId, sentence) => {
    const { page, context, faults } = await openWindow(browser);
    await page.goto(`${stack.url}/#/chat?matter=${matterId}&document=${documentId()}`);
    await ask(page, script(LISTING, { tokens: words(3) }));
    await answered(page);
    expect(await answer(page)).toContain(sentence);
    const choices = page.getByRole("group", { name: "Ask about a document" });
    await choices.getByRole("button", { name: "nda.md" }).click();
    await answered(page, 2);
    expect(await answer(page)).toBe("w0 w1 w2");
    expect(await page.getByLabel("Your question").evaluate((box) => box === document.activeElement)).toBe(true);
    expect(faults).toEqual([]);
    await context.close();
  });
});

describe("an answer in the middle", () => {
  let gate: Gate;

  beforeEach(() => {
    gate = new Gate();
  });

  afterEach(() => {
    gate.remove();
  });

  it("goes on by itself when the network is cut, without loss or repetition", async () => {
    const network = await Network.before(stack.url);
    await onMatter(async ({ page }) => {
      const seen = await watchAnswer(page);
      await ask(page, script(LISTING, gate.ending(words(60), 30)));
      for (const word of ["w5", "w25"]) {
        await saying(page, word);
        network.cut();
        await page.locator(".reconnecting").waitFor();
        network.mend();
        await page.locator(".reconnecting").waitFor({ state: "detached" });
      }
      gate.open();
      await answered(page);
      const texts = await seen();
      expect(steps(texts)).toEqual([]);
      expect(texts.at(-1)?.trim()).toBe(words(60).join("").trim());
    }, network.url);
    await network.close();
  });

  it("is found again when the page is loaded anew, with its question", () =>
    onMatter(async ({ page }) => {
      const question = script(LISTING, gate.ending(words(20), 30));
      await ask(page, question);
      await saying(page, "w3 ");
      await page.reload();
      await saying(page, "w0 w1 w2 w3");
      expect(await page.locator(".answer-foot").count()).toBe(0);
      expect(await page.locator(".question p").textContent()).toBe(question);
      gate.open();
      await answered(page);
      expect(await answer(page)).toBe(words(20).join("").trim());
      await page.reload();
      await answered(page);
      expect(await page.locator(".exchange").count()).toBe(1);
    }));

  it("is shown on another page of the same conversation", () =>
    onMatter(async ({ page, context }) => {
      await ask(page, script(LISTING, gate.ending(words(20), 30)));
      await saying(page, "w1 ");
      const other = await context.newPage();
      await other.goto(page.url());
      await saying(other, "w0 w1 w2");
      expect(await other.locator(".answer-foot").count()).toBe(0);
      gate.open();
      await answered(other);
      expect(await answer(other)).toBe(words(20).join("").trim());
      await other.close();
    }));

  it("goes on when its service is killed, with nothing said twice", () =>
    onMatter(async ({ page }) => {
      const gate = new Gate();
      await ask(page, script(LISTING, gate.ending(words(5), 20)));
      await saying(page, "w0 w1 w2 w3");
      await stack.crash();
      gate.open();
      await answered(page);
      expect(await answer(page)).toBe("w0 w1 w2 w3 w4");
      expect(await page.locator(".exchange").count()).toBe(1);
      gate.remove();
    }));

  it("whose service was killed while the page was away is found on its way, or ended, when the page comes back", () =>
    onMatter(async ({ page }) => {
      const gate = new Gate();
      await ask(page, script(LISTING, gate.ending(words(5), 20)));
      await saying(page, "w0 w1 w2 w3");
      const conversation = page.url();
      await page.goto("about:blank");
      await stack.crash();
      gate.open();
      await page.goto(conversation);
      await saying(page, "w0 w1 w2 w3 w4");
      expect(await page.locator(".exchange").count()).toBe(1);
      gate.remove();
    }));
});
