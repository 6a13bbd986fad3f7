import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { mended } from "../src/iql/remedies.js";
import type { IqlFault, ParsedIql } from "../src/iql/types.js";
import { accessibilityFaults } from "./support/accessibility.js";
import { launch, openWindow } from "./support/browser.js";
import { Stack } from "./support/stack.js";

const MISTAKEN = '{IS terminaton clause} AND NOT {IS clause obligating "Customer"}';
const SOUND = '{IS termination clause} AND NOT {IS clause obligating "Customer"}';

const AGREEMENTS = {
  "services.md": `# Services 🚪

## 1. Payment 💶

The Customer shall pay each invoice of 10 000 € within thirty days.

## 2. Term and Termination ⚖️

Either party may terminate this Agreement at any time on ninety days' notice – “Kündigung” 終了.`,
  "supply.md": `# Supply

## 1. Termination

The Supplier may terminate this Agreement immediately if it is not paid.

## 2. Law

This Agreement is governed by the law of England.`,
  "lease.md": "# Lease\n\n## 1. Rent\n\nThe Tenant shall pay the rent on the first day of each month.",
  // Long, so that the answer about the first document is seen before the one about the last.
  "schedule.md": Array.from(
    { length: 60 },
    (_, i) => `## ${i + 1}. Part\n\nPart ${i + 1} is delivered in week ${i + 1}.`,
  ).join("\n\n"),
};

let stack: Stack;
let browser: Browser;
let page: Page;
let faults: string[];
let matterId: string;

beforeAll(async () => {
  stack = await Stack.start();
  matterId = await stack.matter("Northwind", AGREEMENTS);
  browser = await launch();
});

afterAll(async () => {
  await browser.close();
  await stack.stop();
});

const editor = () => page.getByRole("textbox", { name: "Query" });
const results = () => page.getByRole("region", { name: "Results" });

async function ran(query: string): Promise<void> {
  await editor().fill(query);
  await editor().press("Control+Enter");
  await results().getByText("Scored by").waitFor();
}

describe("in the page", () => {
  beforeEach(async () => {
    ({ page, faults } = await openWindow(browser));
    await page.goto(`${stack.url}/#/iql?matter=${matterId}`);
  });

  afterEach(async () => {
    await page.context().close();
    expect(faults).toEqual([]);
  });

  test("a mistake is marked, mended by a suggestion, and the matches stream in", async () => {
    await editor().fill(MISTAKEN);
    await page.getByText("unknown template").first().waitFor();
    expect(await page.locator(".iql-fault").allInnerTexts()).toEqual(["terminaton clause"]);
    const [marked, carets] = [page.locator(".fault-marked"), page.locator(".fault-carets")];
    expect(await carets.innerText()).toBe("^".repeat("terminaton clause".length));
    const [above, below] = [await marked.boundingBox(), await carets.boundingBox()];
    expect(below?.x).toBeCloseTo(above?.x ?? 0, 0);
    expect(below?.width).toBeCloseTo(above?.width ?? 0, 0);
    expect(below?.y).toBeGreaterThan(above?.y ?? 0);

    await page.getByRole("button", { name: "Use the template {IS termination clause}" }).click();
    expect(await editor().inputValue()).toBe(SOUND);
    await expect.poll(() => page.locator(".fault").count()).toBe(0);

    await page.evaluate(() => {
      const counts: number[] = [];
      Object.assign(window, { counts });
      new MutationObserver(() => counts.push(document.querySelectorAll(".result").length)).observe(document.body, {
        subtree: true,
        childList: true,
      });
    });
    await editor().press("Control+Enter");
    await results().getByText("Scored by").waitFor();
    const counts = await page.evaluate(() => (window as unknown as { counts: number[] }).counts);
    expect(counts.some((count) => count > 0 && count < 4)).toBe(true);
    expect(counts.at(-1)).toBe(4);
    expect(await results().getByRole("status").innerText()).toMatch(
      /^4 documents · \d+ match(es)?, average score 0\.\d\d$/,
    );
  });

  test("a match is opened in the text, highlighted at exactly its words", async () => {
    await ran("{IS termination clause}");
    const match = page.locator(".match").filter({ hasText: "Kündigung" });
    const opening = match.getByRole("button", { name: /^Open in the text of services\.md/ });
    await opening.click();
    const mark = page.locator(".mark-current");
    await mark.first().waitFor();
    const start = AGREEMENTS["services.md"].indexOf("## 2.");
    expect((await mark.allTextContents()).join("\n")).toBe(
      AGREEMENTS["services.md"].slice(start).split("\n").filter(Boolean).join("\n"),
    );
    expect(await mark.first().evaluate((element) => element === document.activeElement)).toBe(true);
    await page.locator(".panel-subtitle").getByText("2. Term and Termination").waitFor();
    await page.keyboard.press("Escape");
    expect(await opening.evaluate((element) => element === document.activeElement)).toBe(true);
  });

  test("an explanation shows the tree with the score at each node, and they agree", async () => {
    await ran(SOUND);
    const match = page.locator(".match").first();
    const score = await match.locator(".match-head .score-number").innerText();
    await match.getByText("How this score comes about").click();
    const nodes = match.locator(".tree-node");
    const words = await nodes.locator(".tree-words").allInnerTexts();
    expect(words.map((line) => line.split(" ")[0])).toEqual(["AND", "termination", "NOT", "clause"]);
    const numbers = (await nodes.locator(".score-number").allTextContents()).map((text) =>
      Number(/[\d.]+$/.exec(text)),
    );
    const [all, termination, not, duty] = numbers;
    expect(all).toBeCloseTo(Number(/[\d.]+$/.exec(score)), 5);
    expect(all).toBeCloseTo(Math.min(termination ?? 0, not ?? 0), 5);
    expect(not).toBeCloseTo(1 - (duty ?? 0), 1);
  });

  test("the matches that did not fit at first are shown on request, all of them", async () => {
    await ran("NOT {IS governing law clause}");
    const schedule = page.locator(".result").filter({ has: page.getByRole("heading", { name: "schedule.md" }) });
    const matches = schedule.locator(".match");
    const count = Number.parseInt(await schedule.locator(".result-count").innerText(), 10);
    expect(await matches.count()).toBe(20);
    expect(count).toBeGreaterThan(40);
    const more = schedule.getByRole("button", { name: "Show more matches" });
    await more.click();
    await expect.poll(() => matches.count()).toBe(40);
    await more.click();
    await expect.poll(() => matches.count()).toBe(Math.min(count, 60));
    await expect.poll(() => more.count()).toBe(count > 60 ? 1 : 0);
  });

  test("only parts of the page scroll, never the page", async () => {
    await ran("{IS termination clause} OR {IS payment clause}");
    await page
      .getByRole("button", { name: /^Open in the text/ })
      .last()
      .click();
    await page.locator(".mark-current").first().waitFor();
    await page.locator(".result").last().scrollIntoViewIfNeeded();
    expect(await page.evaluate(() => document.documentElement.scrollHeight - window.innerHeight)).toBe(0);
  });

  test("a template is found, put in, and its placeholder is written over", async () => {
    await editor().fill("{IS right} AND ");
    await page.getByText("Templates", { exact: true }).click();
    await page.getByRole("searchbox", { name: "Filter the templates" }).fill("duty party");
    await page.getByRole("button", { name: /clause obligating/ }).click();
    await page.keyboard.type("Tenant");
    expect(await editor().inputValue()).toBe('{IS right} AND {IS clause obligating "Tenant"}');
    await page.getByText("Operators", { exact: true }).click();
    await editor().press("End");
    await page.getByRole("button", { name: "Put in OR, or" }).click();
    expect(await editor().inputValue()).toBe('{IS right} AND {IS clause obligating "Tenant"} OR ');
  });

  test("only the documents that are chosen are asked, and the scope is kept in the other view", async () => {
    await page.getByText("Documents and score").click();
    await page.getByRole("checkbox", { name: "lease.md" }).check();
    await ran("{IS payment clause}");
    expect(await page.locator(".result h3").allInnerTexts()).toEqual(["lease.md"]);
    await page.getByRole("button", { name: "Ask", exact: true }).first().click();
    await page.getByRole("button", { name: "IQL workbench" }).click();
    expect(await editor().inputValue()).toBe("{IS payment clause}");
    expect(await page.locator(".result h3").allInnerTexts()).toEqual(["lease.md"]);
    expect(await page.getByText("1 document, matches above 0.50").count()).toBe(1);
  });

  test("the latest answer wins: a slow one about an older query is not shown", async () => {
    let held: (() => Promise<void>) | undefined;
    await page.route("**/iql/parse", async (route) => {
      if (!route.request().postData()?.includes("odd")) return route.continue();
      held = () => route.continue().catch(() => undefined);
    });
    await editor().fill("{IS odd clause}");
    await expect.poll(() => held).toBeDefined();
    await editor().fill("{IS right}");
    await page.getByText(/judged first|scored already/).waitFor();
    await held?.();
    expect(await page.locator(".fault").count()).toBe(0);
  });

  test("a run is cancelled, and what was found stays", async () => {
    await page.route("**/matters/*/iql", (route) =>
      route.request().method() === "POST" ? undefined : route.continue(),
    );
    await editor().fill("{IS right}");
    await editor().press("Control+Enter");
    await results().getByRole("button", { name: "Cancel" }).click();
    await results().getByText("cancelled").waitFor();
    expect(await page.getByRole("button", { name: "Run" }).isEnabled()).toBe(true);
  });

  test("when the service cannot answer, the results say so", async () => {
    await page.route("**/matters/*/iql", (route) => route.abort());
    await editor().fill("{IS right}");
    await editor().press("Control+Enter");
    await results().getByRole("alert").waitFor();
  });

  describe.each(["light", "dark"] as const)("in the %s theme", (colorScheme) => {
    test("axe-core finds nothing wrong with faults, aids, results and the open text", async () => {
      await page.emulateMedia({ colorScheme });
      await editor().fill(MISTAKEN);
      await page.getByText("unknown template").first().waitFor();
      for (const aid of ["Templates", "Operators", "Documents and score"]) await page.getByText(aid).first().click();
      await page.getByRole("searchbox", { name: "Filter the templates" }).waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      await ran("{IS termination clause} OR {IS payment clause}");
      await page.getByText("How this score comes about").first().click();
      await page
        .getByRole("button", { name: /^Open in the text/ })
        .first()
        .click();
      await page.locator(".mark-current").first().waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
    });
  });
});

/** What the service finds wrong with a query, as it says it today. */
function faultsOf(query: string): Promise<IqlFault[]> {
  return stack.call<ParsedIql>("POST", "/iql/parse", { query }).then(({ errors }) => errors);
}

test.each([
  "{IS terminaton clause}",
  "{IS clause that limits liability}",
  "{IS clause that “limits liability”}",
  "{IS right or obligation}",
  "{IS right} {IS obligation}",
  "{IS right} && {IS obligation}",
  "{IS right}, {IS obligation}",
  "{IS right} but {IS obligation}",
  "{IS right} AND termination",
  "{IS right} NOT {IS obligation}",
  "{IS right",
  "({IS right} OR {IS obligation}",
  "{IS right} )",
  '{IS clause that "limits}',
  "{}",
  "{IS}",
  "{IS right} AND",
])("the service's first edit for %s mends it", async (query) => {
  const before = await faultsOf(query);
  const [first] = before.flatMap(({ edits }) => edits);
  if (!first) throw new Error("no edit");
  expect(await faultsOf(mended(query, first).query)).toEqual([]);
});
