import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * One reply of the model: tokens, `repeat` times over and `pause_ms` after each, then calls of tools; with `hold` it
 * never ends. The token that a gate is before waits until that is open.
 */
export interface Step {
  tokens?: string[];
  repeat?: number;
  pause_ms?: number;
  gate?: { before: number; path: string };
  calls?: { name: string; args?: object }[];
  hold?: boolean;
}

/** A message for which the service's model makes these replies. */
export function script(...steps: Step[]): string {
  return JSON.stringify({ steps });
}

/** Tokens that are told apart, "t0 t1 t2 ", each as wide as is said: however they are joined, their bytes are as many. */
export function tokens(count: number, width = 0): string[] {
  return Array.from({ length: count }, (_, number) => `${`t${number}`.padEnd(width, "x")} `);
}

/** A reply whose text is discarded, for a tool is called after it; what follows may state anything. */
export const LISTING: Step = { tokens: ["Let me ", "look."], calls: [{ name: "list_matter_documents" }] };

/** A reply that asks for a tool which a person has to approve. */
export const ASKING: Step = { calls: [{ name: "isaacus_extract", args: { question: "What is the rent?" } }] };

/** A message whose answer never comes to an end. */
export const HOLDING = script({ tokens: ["Hi"], hold: true });

/** Keeps an answer from its end until the test has seen what it wants to see, however long that takes. */
export class Gate {
  private readonly folder = mkdtempSync(join(tmpdir(), "proviso-gate-"));
  private readonly path = join(this.folder, "open");

  /** The tokens; the last of them waits. */
  ending(tokens: string[], pause_ms = 0): Step {
    return { tokens, pause_ms, gate: { before: tokens.length - 1, path: this.path } };
  }

  open(): void {
    writeFileSync(this.path, "");
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}
