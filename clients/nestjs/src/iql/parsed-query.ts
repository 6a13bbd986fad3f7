import { CodePoints } from "@proviso/client";
import type { ParseIqlResponse } from "@proviso/client/stubs/tools";
import { toJson } from "../contract/json.js";
import type { Json } from "../contract/json.js";

/** What ParseIql says of a query, with the places of errors and edits in UTF-16 too. */
export function parsedQuery(query: string, { errors, ...parsed }: ParseIqlResponse): Json {
  const text = new CodePoints(query);
  const placed = errors.map((error) => ({
    ...inUtf16(text, error),
    edits: error.edits.map((edit) => inUtf16(text, edit)),
  }));
  return toJson({ ...parsed, errors: placed });
}

/** With its place in UTF-16 beside that in code points. */
function inUtf16<Placed extends { start: number; end: number }>(text: CodePoints, placed: Placed) {
  const { start, end } = text.range(Math.min(placed.start, text.length), Math.min(placed.end, text.length));
  return { ...placed, startUtf16: start, endUtf16: end };
}
