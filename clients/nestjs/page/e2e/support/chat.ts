import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";

/**
 * One reply of the service's model: tokens, with a pause after each, then calls of tools; with `hold` it never ends. The
 * token that a gate is before waits until that is open.
 */
export interface Step {
  tokens?: string[];
  pause_ms?: number;
  gate?: { before: number; path: string };
  calls?: { name: string; args?: object }[];
  hold?: boolean;
}

/** Keeps an answer from its end until the test has seen what it wants to see, however long that takes. */
export class Gate {
  private readonly folder = mkdtempSync(join(tmpdir(), "proviso-gate-"));
  private readonly path = join(this.folder, "open");

  /** The tokens; the last of them waits. */
  ending(tokens: string[], pause_ms: number): Step {
    return { tokens, pause_ms, gate: { before: tokens.length - 1, path: this.path } };
  }

  open(): void {
    writeFileSync(this.path, "");
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}

/** A question for which the model makes these replies. */
export function script(...steps: Step[]): string {
  return JSON.stringify({ steps });
}

/** A reply that looks at the documents' names; what follows it may state anything. */
export const LISTING: Step = { calls: [{ name: "list_matter_documents" }] };

/** Words that are told apart, a token each: "w0 w1 w2 ". */
export function words(count: number): string[] {
  return Array.from({ length: count }, (_, number) => `w${number} `);
}

export async function ask(page: Page, question: string): Promise<void> {
  await page.getByLabel("Your question").fill(question);
  await page.keyboard.press("Enter");
}

/** Waits until an answer has come to its end: as many as were asked for on this page. */
export async function answered(page: Page, count = 1): Promise<void> {
  await page
    .locator(".answer-foot")
    .nth(count - 1)
    .waitFor();
}

/** Waits until an answer holds the words. */
export async function saying(page: Page, text: string): Promise<void> {
  await page.locator(".answer-text", { hasText: text }).waitFor();
}

/** The newest answer's words. */
export async function answer(page: Page): Promise<string> {
  return (await page.locator(".answer-text").last().innerText()).trim();
}

/** Records what the newest answer says, whenever that changes; to be called before it begins. */
export async function watchAnswer(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(() => {
    const seen: string[] = [];
    Object.assign(window, { seen });
    const look = (): void => {
      const all = document.querySelectorAll(".exchange .answer");
      const text = all[all.length - 1]?.querySelector(".answer-text")?.textContent ?? "";
      if (text !== (seen.at(-1) ?? "")) seen.push(text);
    };
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true });
  });
  return () => page.evaluate(() => (window as unknown as { seen: string[] }).seen);
}
