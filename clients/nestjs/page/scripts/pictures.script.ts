// Remakes docs/images from the real service, with the embedded model and the sample matter.
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { agentWithApproval } from "../e2e/support/agent.js";
import { launch, openWindow } from "../e2e/support/browser.js";
import { answered, ask } from "../e2e/support/chat.js";
import { PROJECT } from "../e2e/support/processes.js";
import { Stack } from "../e2e/support/stack.js";

const SAMPLES = join(PROJECT, "service/proviso_service/samples/northwind");
const IMAGES = join(PROJECT, "docs/images");
const NARROW = { viewport: { width: 420, height: 850 } };

const folder = mkdtempSync(join(tmpdir(), "proviso-pictures-"));
let stack: Stack;
let browser: Browser;
let matterId: string;
/** The conversation of the pictures, as the URL's hash names it. */
let conversation: string;

beforeAll(async () => {
  stack = await Stack.startAsRun(agentWithApproval(folder));
  browser = await launch();
});

afterAll(async () => {
  await browser.close();
  await stack.stop();
  rmSync(folder, { recursive: true });
});

/** A window on a place of the page. */
async function onPage(hash: string, use: (page: Page) => Promise<void>, options: BrowserContextOptions = {}) {
  const { page, context, faults } = await openWindow(browser, options);
  await page.goto(`${stack.url}/${hash}`);
  await use(page);
  expect(faults).toEqual([]);
  await context.close();
}

/** Takes the picture when nothing moves any more and nothing is pointed at. */
async function picture(page: Page, name: string): Promise<void> {
  await page.mouse.move(0, 0);
  await page.evaluate(() => document.fonts.ready);
  await page.screenshot({ path: join(IMAGES, `${name}.png`), animations: "disabled", caret: "hide" });
}

async function openCitation(page: Page, number: number): Promise<void> {
  await page
    .getByRole("button", { name: new RegExp(`^Citation ${number}:`) })
    .first()
    .click();
  await page.locator(".side mark").first().waitFor();
  await page.locator(".side .panel-subtitle").waitFor();
}

test("documents", () =>
  onPage("", async (page) => {
    await page.getByRole("button", { name: "New matter" }).click();
    await page.getByLabel("Name of the matter").fill("Northwind Robotics");
    await page.getByRole("button", { name: "Create" }).click();
    const samples = readdirSync(SAMPLES).sort();
    const files = samples.map((name) => ({
      name,
      mimeType: "text/plain",
      buffer: readFileSync(join(SAMPLES, name)),
    }));
    const damaged = { name: "scanned-annex.pdf", mimeType: "application/pdf", buffer: Buffer.from("no PDF") };
    await page.getByLabel("Files to upload").setInputFiles([...files.slice(0, 1), damaged, ...files.slice(1)]);
    await page.locator(".file-word", { hasText: "Failed" }).waitFor();
    await page.locator(".file-word", { hasText: "Indexing" }).first().waitFor();
    const ready = page.locator(".file-word", { hasText: "Ready" });
    await ready.first().waitFor();
    await picture(page, "documents");
    await ready.nth(samples.length - 1).waitFor();
    await page.getByRole("button", { name: "Delete scanned-annex.pdf" }).click();
    await page.getByRole("button", { name: "Delete document" }).click();
    matterId = new URLSearchParams(page.url().split("?")[1]).get("matter") ?? "";
  }));

test("an answer, its context, and an approval", () =>
  onPage(`#/chat?matter=${matterId}`, async (page) => {
    await ask(page, "What is the governing law of the mutual NDA?");
    await answered(page);
    await openCitation(page, 1);
    await picture(page, "page-chat");
    await page.getByRole("button", { name: "Context used" }).click();
    await picture(page, "page-context");
    await page.getByRole("button", { name: "Close", exact: true }).click();
    await ask(page, "List all termination clauses");
    await page.locator(".approval").waitFor();
    await picture(page, "page-approval");
    await page.getByRole("button", { name: "Approve once" }).click();
    await answered(page, 2);
    conversation = new URL(page.url()).hash;
  }));

test("in the dark", () =>
  onPage(
    conversation,
    async (page) => {
      await answered(page, 2);
      await openCitation(page, 2);
      await picture(page, "page-dark");
    },
    { colorScheme: "dark" },
  ));

test("in a narrow window", () =>
  onPage(
    conversation,
    async (page) => {
      await answered(page, 2);
      await page.getByRole("button", { name: /^Citation 4:/ }).waitFor();
      await picture(page, "page-narrow");
    },
    NARROW,
  ));

test("the workbench", () =>
  onPage(`#/iql?matter=${matterId}`, async (page) => {
    const query = page.getByRole("textbox", { name: "Query" });
    await query.fill("{IS terminaton clause} AND {IS clause that limits liability}");
    await page.locator(".fault").first().waitFor();
    await picture(page, "iql-fault");
    await query.fill("{IS termination clause} AND NOT {IS governing law clause}");
    await query.press("Control+Enter");
    await page.getByText("Scored by").waitFor({ timeout: 120_000 });
    await page.getByRole("combobox", { name: "Order" }).selectOption("score");
    const first = page.locator(".result").first();
    await first.getByText("How this score comes about").first().click();
    await first
      .getByRole("button", { name: /^Open in the text/ })
      .first()
      .click();
    await page.locator(".mark-current").first().waitFor();
    await page.locator(".side .panel-subtitle").waitFor();
    await page.locator(".workbench").evaluate((sheet) => {
      sheet.scrollTop = 0;
    });
    await picture(page, "iql-results");
  }));
