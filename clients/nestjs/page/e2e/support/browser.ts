import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";

const FIND_CHROMIUM = fileURLToPath(new URL("../../../../../requirements/chromium/find.mjs", import.meta.url));

/** Chromium without a window: what CHROMIUM names, else the system's, else that of an npm package. */
export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: execFileSync(FIND_CHROMIUM, { encoding: "utf8" }).trim(),
    args: ["--no-sandbox", "--disable-gpu", "--font-render-hinting=none"],
  });
}

/** A window of its own, and what went wrong in it: errors of scripts, and what the security policy refused. */
export async function openWindow(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<{ context: BrowserContext; page: Page; faults: string[] }> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  // However busy the machine is.
  page.setDefaultTimeout(30_000);
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().includes("Failed to load resource")) faults.push(message.text());
  });
  return { context, page, faults };
}
