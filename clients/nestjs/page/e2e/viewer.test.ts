import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { accessibilityFaults } from "./support/accessibility.js";
import { launch, openWindow } from "./support/browser.js";
import { answered, ask, script } from "./support/chat.js";
import { pdfOf } from "./support/pdf.js";
import { Stack } from "./support/stack.js";

/** Sections whose characters count differently in every way of counting. */
const TEXT = [
  "# Vertrag 📄⚖️",
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

describe("a PDF that an answer cites", () => {
  const QUOTE = "thirty days of written notice";

  beforeEach(async () => {
    const content = pdfOf("This lease is made in May.", `The Tenant gives ${QUOTE} to the Landlord.`);
    const leases = await stack.matter("Leases", { "lease.pdf": content });
    await page.goto(`${stack.url}/#/chat?matter=${leases}`);
    const search = { calls: [{ name: "isaacus_search", args: { query: "notice of the tenant" } }] };
    await ask(page, script(search, { tokens: [`The Tenant gives “${QUOTE}” [1].`] }));
    await answered(page);
    await page.getByRole("button", { name: /^Citation 1: lease.pdf/ }).click();
    await expect.poll(() => mark().textContent()).toBe(QUOTE);
  });

  test("is shown as its page, with the quoted words marked where they are drawn", async () => {
    const answers: { url: string; ok: boolean }[] = [];
    page.on("response", (response) => answers.push({ url: response.url(), ok: response.ok() }));
    await page.getByRole("button", { name: "Page", exact: true }).click();
    await page.getByText("Page 2 of 2").waitFor();
    await page.locator('[aria-busy="false"] .page-mark').waitFor();
    const place = await page.locator(".page-mark").evaluate((element) => {
      const paper = element.closest(".drawn-page")?.getBoundingClientRect() ?? new DOMRect();
      const points = 595 / paper.width;
      const { left, top, right, bottom } = element.getBoundingClientRect();
      return [left - paper.left, top - paper.top, right - paper.left, bottom - paper.top].map((at) => at * points);
    });
    const [left = 0, top = 0, right = 0, bottom = 0] = place;
    expect(left).toBeGreaterThan(150);
    expect(left).toBeLessThan(175);
    expect(right - left).toBeGreaterThan(130);
    expect(right - left).toBeLessThan(175);
    expect(top).toBeLessThan(135);
    expect(bottom).toBeGreaterThan(141);
    expect(bottom - top).toBeLessThan(20);
    expect(await darkIn(left, top, right, bottom)).toBeGreaterThan(100);
    expect(await darkIn(left, top - 25, right, top - 5)).toBe(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    // Helvetica is not in the file: it comes from the gateway, as all does.
    expect(answers.filter(({ url, ok }) => !ok || !url.startsWith(stack.url))).toEqual([]);
    expect(answers.some(({ url }) => url.endsWith("/standard_fonts/LiberationSans-Regular.ttf"))).toBe(true);
  });

  test("has other pages, and is there as it was uploaded", async () => {
    await page.getByRole("button", { name: "Page", exact: true }).click();
    await page.locator(".page-mark").waitFor();
    await page.getByRole("button", { name: "Previous page" }).click();
    await page.getByText("Page 1 of 2").waitFor();
    await page.getByRole("region", { name: "Page 1 of lease.pdf" }).waitFor();
    expect(await page.locator(".page-mark").count()).toBe(0);
    const coming = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download original" }).click();
    expect((await coming).suggestedFilename()).toBe("lease.pdf");
    await page.getByRole("button", { name: "Text", exact: true }).click();
    await expect.poll(() => mark().textContent()).toBe(QUOTE);
  });

  /** How many dark pixels are drawn in a part of the page, in points. */
  function darkIn(...part: [number, number, number, number]): Promise<number> {
    return page.locator(".drawn-page canvas").evaluate((canvas, [left, top, right, bottom]) => {
      const { width } = canvas as HTMLCanvasElement;
      const box = [left, top, right - left, bottom - top].map((at) => Math.round((at * width) / 595));
      const [x = 0, y = 0, w = 1, h = 1] = box;
      const data = (canvas as HTMLCanvasElement).getContext("2d")?.getImageData(x, y, w, h).data ?? [];
      let dark = 0;
      for (let i = 0; i < data.length; i += 4) if ((data[i] ?? 255) < 128) dark += 1;
      return dark;
    }, part);
  }
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
      const length = Number(query.get("max_chars"));
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
