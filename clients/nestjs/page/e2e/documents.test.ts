import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { accessibilityFaults } from "./support/accessibility.js";
import { launch, openWindow } from "./support/browser.js";
import { Stack } from "./support/stack.js";

const LIMIT = 200_000;

let stack: Stack;
let browser: Browser;
let page: Page;
let faults: string[];

beforeAll(async () => {
  stack = await Stack.start({ documents: { max_upload_bytes: LIMIT } });
  browser = await launch();
});

afterAll(async () => {
  await browser.close();
  await stack.stop();
});

beforeEach(async () => {
  ({ page, faults } = await openWindow(browser));
});

afterEach(async () => {
  await page.context().close();
  expect(faults).toEqual([]);
});

/** A new matter, made in the page. */
async function newMatter(name: string): Promise<void> {
  await page.goto(stack.url);
  await page.getByRole("button", { name: "New matter" }).click();
  await page.getByLabel("Name of the matter").fill(name);
  await page.keyboard.press("Enter");
  await page.getByText("No documents yet").waitFor();
}

function file(name: string, content: string | Buffer) {
  return { name, mimeType: "application/octet-stream", buffer: Buffer.from(content) };
}

async function choose(...files: ReturnType<typeof file>[]): Promise<void> {
  await page.getByLabel("Files to upload").setInputFiles(files);
}

const document = (name: string) =>
  page.getByRole("list", { name: "Documents" }).getByRole("listitem").filter({ hasText: name });
const upload = (name: string) =>
  page.getByRole("list", { name: "Uploads" }).getByRole("listitem").filter({ hasText: name });

const CLAUSES = Array.from(
  { length: 40 },
  (_, i) => `## ${i + 1}. Clause\n\nThe Supplier shall deliver part ${i + 1} on time.`,
);

/** The words of what has the focus. */
function focused(): Promise<string> {
  return page.evaluate(() => window.document.activeElement?.textContent.trim() ?? "");
}

test("the form for a new matter gives the focus back, closed or done", async () => {
  await newMatter("Focus");
  expect(await focused()).toBe("New matter");
  await page.keyboard.press("Enter");
  await page.getByLabel("Name of the matter").press("Escape");
  expect(await page.getByLabel("Name of the matter").count()).toBe(0);
  expect(await focused()).toBe("New matter");
});

test("a document that is uploaded is seen to become ready", async () => {
  await newMatter("Alpha");
  await page.evaluate(() => {
    const seen = new Set<string>();
    Object.assign(window, { seen });
    new MutationObserver(() => {
      for (const word of window.document.querySelectorAll(".file-word")) seen.add(word.textContent);
    }).observe(window.document.body, { subtree: true, childList: true, characterData: true });
  });
  await choose(file("supply.md", CLAUSES.join("\n\n")));
  await document("supply.md").getByText("Ready").waitFor();
  const seen = await page.evaluate(() => [...(window as unknown as { seen: Set<string> }).seen]);
  expect(seen.at(0)).not.toBe("Ready");
  expect(seen.at(-1)).toBe("Ready");
  expect(await page.getByRole("status").filter({ hasText: "supply.md: Ready." }).count()).toBe(1);
});

test("several files are taken by dropping them", async () => {
  await newMatter("Beta");
  const transfer = await page.evaluateHandle(() => {
    const data = new DataTransfer();
    for (const name of ["one.md", "two.txt"]) data.items.add(new File([`Notice ${name} of thirty days.`], name));
    return data;
  });
  const target = page.locator(".uploader");
  await target.dispatchEvent("dragover", { dataTransfer: transfer });
  await target.dispatchEvent("drop", { dataTransfer: transfer });
  await document("one.md").getByText("Ready").waitFor();
  await document("two.txt").getByText("Ready").waitFor();
});

test("what is wrong with a file is said in a sentence", async () => {
  await newMatter("Gamma");
  await choose(
    file("empty.txt", ""),
    file("old.doc", "not read"),
    file("large.txt", "x".repeat(LIMIT + 1)),
    file("broken.pdf", "no PDF at all"),
  );
  await upload("empty.txt").getByText("The file is empty.").waitFor();
  await upload("large.txt").getByText("The file is too large: at most 200,000 bytes are taken.").waitFor();
  expect(await upload("old.doc").locator(".file-state").innerText()).toMatch(/\.docx|[Ss]ave it as/);
  await document("broken.pdf").getByText("Failed").waitFor();
  expect(await document("broken.pdf").locator(".file-state").innerText()).toMatch(/Failed.*\w{4,}/);
});

test("a file that the matter has already is not stored twice", async () => {
  await newMatter("Delta");
  await choose(file("a.md", "The same words."));
  await document("a.md").getByText("Ready").waitFor();
  await choose(file("b.md", "The same words."));
  await upload("b.md").getByText("Already there").waitFor();
  expect(await page.getByRole("list", { name: "Documents" }).getByRole("listitem").count()).toBe(1);
});

test("an upload is cancelled while it is sent, and nothing is stored", async () => {
  await newMatter("Epsilon");
  await page.route("**/documents", (route) => (route.request().method() === "POST" ? undefined : route.continue()));
  await choose(file("slow.txt", "Some words."));
  await page.getByRole("button", { name: "Cancel the upload of slow.txt" }).click();
  await upload("slow.txt").getByText("Cancelled; nothing was stored.").waitFor();
  await page.unroute("**/documents");
  await page.getByRole("button", { name: "Clear finished" }).click();
  expect(await document("slow.txt").count()).toBe(0);
});

test("a document is chosen for the questions, stays so after a reload, and is deleted only when that is confirmed", async () => {
  await newMatter("Zeta");
  await choose(file("lease.md", "The Tenant shall pay rent."));
  await document("lease.md").getByText("Ready").waitFor();
  const ask = page.getByRole("button", { name: "Ask only about lease.md" });
  await ask.click();
  await page.reload();
  await expect.poll(() => ask.getAttribute("aria-pressed")).toBe("true");
  const remove = page.getByRole("button", { name: "Delete lease.md" });
  await remove.click();
  const dialog = page.getByRole("dialog", { name: "Delete “lease.md”?" });
  expect(
    await dialog.getByRole("button", { name: "Keep" }).evaluate((button) => button === window.document.activeElement),
  ).toBe(true);
  await page.keyboard.press("Escape");
  expect(await document("lease.md").count()).toBe(1);
  await remove.click();
  await dialog.getByRole("button", { name: "Delete document" }).click();
  await page.getByText("No documents yet").waitFor();
  expect(page.url()).not.toContain("document=");
  expect(await focused()).toBe("Documents");
});

test("a matter is deleted only when that is confirmed", async () => {
  await newMatter("Eta");
  await page.getByRole("button", { name: "Delete the matter Eta" }).click();
  await page.getByRole("button", { name: "Delete matter" }).click();
  const matter = page.getByRole("list", { name: "Matters" }).getByText("Eta", { exact: true });
  await expect.poll(() => matter.count()).toBe(0);
  expect(page.url()).not.toContain("matter=");
  expect(await focused()).toBe("Matters");
});

describe.each(["light", "dark"] as const)("in the %s theme", (colorScheme) => {
  test("axe-core finds nothing wrong with documents in every state", async () => {
    await page.emulateMedia({ colorScheme });
    await newMatter(`Theta ${colorScheme}`);
    await choose(file("fine.md", "The Tenant may assign."), file("broken.pdf", "no PDF"), file("empty.txt", ""));
    await document("fine.md").getByText("Ready").waitFor();
    await document("broken.pdf").getByText("Failed").waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "Delete fine.md" }).click();
    expect(await accessibilityFaults(page)).toEqual([]);
  });
});
