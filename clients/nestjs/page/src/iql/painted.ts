import { tokensOf } from "./tokens.js";
import type { TokenKind } from "./tokens.js";
import type { IqlFault } from "./types.js";

/** A run of a query's text in one colour; `faulty` ones are underlined. */
export interface Painted {
  kind: TokenKind;
  text: string;
  faulty: boolean;
}

type Place = Pick<IqlFault, "start_utf16" | "end_utf16">;

/** The query as the editor paints it. A fault without width, as at the end of the query, is a blank of its own. */
export function painted(query: string, faults: readonly Place[]): Painted[] {
  const cuts = new Set(faults.flatMap(({ start_utf16: start, end_utf16: end }) => [start, end]));
  const runs: Painted[] = [];
  let at = 0;
  for (const { kind, text } of tokensOf(query)) {
    for (const part of cutAt(text, at, cuts)) {
      const faulty = faults.some((fault) => fault.start_utf16 <= at && at + part.length <= fault.end_utf16);
      runs.push({ kind, text: part, faulty });
      at += part.length;
    }
  }
  const atEnd = faults.some(({ start_utf16: start, end_utf16: end }) => start === end && start >= query.length);
  return atEnd ? [...runs, { kind: "text", text: " ", faulty: true }] : runs;
}

/** The parts of a text that begins at an offset, cut at offsets. */
function cutAt(text: string, start: number, offsets: ReadonlySet<number>): string[] {
  const inside = [...offsets].map((offset) => offset - start).filter((offset) => offset > 0 && offset < text.length);
  const cuts = [0, ...inside.sort((a, b) => a - b), text.length];
  return cuts.slice(1).map((cut, i) => text.slice(cuts[i], cut));
}
