/** One reply of the model: tokens, `repeat` times over and `pause_ms` after each, then calls of tools; with `hold` it never ends. */
export interface Step {
  tokens?: string[];
  repeat?: number;
  pause_ms?: number;
  calls?: { name: string; args?: object }[];
  hold?: boolean;
}

/** A message for which the service's model makes these replies. */
export function script(...steps: Step[]): string {
  return JSON.stringify({ steps });
}

/** Tokens that are told apart: "t0 t1 t2 ". */
export function tokens(count: number): string[] {
  return Array.from({ length: count }, (_, number) => `t${number} `);
}

/** A reply whose text is discarded, for a tool is called after it; what follows may state anything. */
export const LISTING: Step = { tokens: ["Let me ", "look."], calls: [{ name: "list_matter_documents" }] };
