import type { Page } from "playwright-core";
import type { Step } from "../../../../typescript/tests/support/script.js";

// What the service's model plays is said as in the tests of the client.
export { Gate, script } from "../../../../typescript/tests/support/script.js";

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
