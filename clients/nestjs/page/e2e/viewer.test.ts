import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { launch, openWindow } from "./support/browser.js";
import { Stack } from "./support/stack.js";

/** Sections whose characters count differently in every way of counting. */
const TEXT = [
  "# Vertrag 📄👩‍⚖️",
  "## 1. Ku\u0308ndigung 🚪",
  "Die Ku\u0308ndigung – auch per 📧 – bedarf der Schriftform. 👍🏽",
  "## 2. 準拠法 🇯🇵",
  "本契約は日本法に準拠する。𠮷野家は契約を解除できる。",
  "## 3. Ελλάδα & <b>no markup</b>",
  "Τα δικαστη\u0301ρια της Αθήνας 🏛️ έχουν δικαιοδοσία. &amp; <script>alert(1)</script>",
].join("\n\n");

let stack: Stack;
let browser: Browser;
let page: Page;
let faults: string[];
let matterId: string;

beforeAll(async () => {
  stack = await Stack.start();
  matterId = await stack.matter("Verträge", { "vertrag.md": TEXT });
  browser = await launch();
});

afterAll(async () => {
  await browser.close();
  await stack.stop();
});

beforeEach(async () => {
  ({ page, faults } = await openWindow(browser));
  await page.goto(`${stack.url}/#/iql?matter=${matterId}`);
});

afterEach(async () => {
  await page.context().close();
  expect(faults).toEqual([]);
});

const mark = () => page.locator(".mark-current");
const scroller = () => page.locator(".viewer-scroller");

/** Asks so that every passage matches. */
async function everyPassage(): Promise<void> {
  await page.getByText("Documents and score").click();
  await page.getByRole("slider", { name: "Matches score above" }).fill("0");
  await page.getByRole("textbox", { name: "Query" }).fill("NOT {IS right}");
  await page.keyboard.press("Control+Enter");
  await page.getByText("Scored by").waitFor();
}

/** What the answer to the query said that the passages are. */
async function passages(): Promise<{ start_index: number; end_index: number; text: string }[]> {
  const answer = await fetch(`${stack.url}/matters/${matterId}/iql`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ query: "NOT {IS right}", min_score: 0 }),
  });
  const data = (await answer.text()).split("\n").find((line) => line.startsWith('data: {"document_result"')) ?? "";
  const result = JSON.parse(data.slice("data: ".length)) as { document_result: { matches: never[] } };
  return result.document_result.matches;
}

describe("in a text with emoji, combining marks and CJK", () => {
  test("each passage is highlighted exactly, one after the other, by keyboard", async () => {
    await everyPassage();
    const expected = await passages();
    expect(expected.length).toBeGreaterThan(2);
    await page
      .getByRole("button", { name: /^Open in the text/ })
      .first()
      .click();
    for (const [i, { text, start_index: start, end_index: end }] of expected.entries()) {
      await page.getByText(`Passage ${i + 1} of ${expected.length}`).waitFor();
      await expect
        .poll(async () => (await mark().allTextContents()).join("\n"))
        .toBe(text.split("\n").filter(Boolean).join("\n"));
      expect(text).toBe(Array.from(TEXT).slice(start, end).join(""));
      await page.keyboard.press("n");
    }
    await page.getByText(`Passage 1 of ${expected.length}`).waitFor();
    await page.keyboard.press("p");
    await page.getByText(`Passage ${expected.length} of ${expected.length}`).waitFor();
  });

  test("the text is shown as text, with every character of it", async () => {
    await page.getByRole("button", { name: "vertrag.md", exact: true }).click();
    await page.getByText("<script>alert(1)</script>").waitFor();
    expect((await page.locator(".line").allTextContents()).join("\n")).toBe(TEXT);
  });
});

test("a text that is not there any more leaves the words that were cited", async () => {
  await everyPassage();
  await page.route("**/text?*", (route) =>
    route.fulfill({
      status: 404,
      contentType: "application/problem+json",
      body: '{"title":"Gone","detail":"No such document."}',
    }),
  );
  await page
    .getByRole("button", { name: /^Open in the text/ })
    .first()
    .click();
  await page.getByRole("alert").filter({ hasText: "No such document." }).waitFor();
  expect(await page.locator(".viewer-quote").innerText()).toContain("Vertrag");
});

describe("in a text of a million characters", () => {
  const LINES = Array.from({ length: 20_000 }, (_, i) => `${i}. ${"Word 😀 ".repeat(5)}end of line ${i}`);
  const POINTS = Array.from(LINES.join("\n\n"));
  /** The length of each part that was asked for. */
  let asked: number[];

  beforeEach(async () => {
    asked = [];
    await page.route("**/text?*", async (route) => {
      const query = new URL(route.request().url()).searchParams;
      const start = Number(query.get("start"));
      const length = Number(query.get("max_length"));
      asked.push(length);
      const part = { text: POINTS.slice(start, start + length).join(""), start, character_count: POINTS.length };
      await route.fulfill({
        json: { ...part, filename: "vertrag.md", page: 0, section_path: [] },
      });
    });
    await page.getByRole("button", { name: "vertrag.md", exact: true }).click();
    await page.getByText("end of line 0", { exact: false }).first().waitFor();
  });

  test("only parts of it are loaded and shown", async () => {
    const position = page.getByRole("slider", { name: "Place in the document" });
    await position.fill("50");
    await expect.poll(() => firstLine()).toBeGreaterThan(9_900);
    expect(Math.max(...asked)).toBeLessThanOrEqual(8_000);
    expect(await page.locator(".line").count()).toBeLessThan(3_000);
  });

  test("scrolling up and down shows every line once, and what is read stays where it is", async () => {
    await page.getByRole("slider", { name: "Place in the document" }).fill("50");
    await expect.poll(() => firstLine()).toBeGreaterThan(9_900);
    const from = await firstLine();
    for (let i = 0; i < 25; i += 1) await scrollBy(-700);
    const top = await firstLine();
    expect(top).toBeLessThan(from - 100);
    for (let i = 0; i < 50; i += 1) await scrollBy(700);
    expect(await firstLine()).toBeGreaterThan(from + 100);
    expect(asked.length).toBeLessThan(80);
  });

  /** The number of the first line that is seen. */
  function firstLine(): Promise<number> {
    return scroller().evaluate((element) => {
      const edge = element.getBoundingClientRect().top;
      const seen = [...element.querySelectorAll(".line")].find(
        (line) => line.getBoundingClientRect().top >= edge && line.textContent.length > 3,
      );
      return Number.parseInt(seen?.textContent ?? "", 10);
    });
  }

  /** Scrolls, waits for what that loads, and checks that the lines follow each other and that they moved by this much. */
  async function scrollBy(pixels: number): Promise<void> {
    const moved = await scroller().evaluate(async (element, distance) => {
      const lines = () => [...element.querySelectorAll<HTMLElement>(".line")].filter((line) => line.textContent !== "");
      const top = element.getBoundingClientRect().top;
      const watched = lines().findLast((line) => line.getBoundingClientRect().top < top + element.clientHeight / 2);
      const start = watched?.dataset.start ?? "";
      const before = watched?.getBoundingClientRect().top ?? 0;
      element.scrollTop += distance;
      const wanted = element.scrollTop;
      for (let i = 0; i < 6; i += 1) await new Promise((done) => requestAnimationFrame(done));
      await new Promise((done) => setTimeout(done, 30));
      const after = element.querySelector(`[data-start="${start}"]`)?.getBoundingClientRect().top ?? Number.NaN;
      const numbers = lines()
        .slice(1, -1)
        .map((line) => Number.parseInt(line.textContent, 10));
      return {
        by: before - after,
        wanted,
        gaps: numbers.filter((number, i) => i > 0 && number !== (numbers[i - 1] ?? 0) + 1),
      };
    }, pixels);
    expect(moved.gaps).toEqual([]);
    expect(Math.abs(moved.by - pixels)).toBeLessThan(2);
  }
});
