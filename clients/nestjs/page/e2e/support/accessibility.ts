import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  impact: string;
  id: string;
  nodes: { target: string[] }[];
}

/** What axe-core finds wrong with the page as it stands, a line for each rule. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const violations = await page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run: () => Promise<{ violations: Violation[] }> } };
    return (await axe.run()).violations;
  });
  return violations.map(
    ({ impact, id, nodes }) => `${impact} ${id}: ${nodes.map((node) => node.target.join(" ")).join(", ")}`,
  );
}
