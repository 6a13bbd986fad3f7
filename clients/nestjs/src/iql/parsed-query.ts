import { CodePoints } from "@proviso/client";
import type { ParseIqlResponse } from "@proviso/client/stubs/tools";
import { toJson } from "../contract/json.js";
import type { Json } from "../contract/json.js";

/** What ParseIql says of a query, with the tree as JSON and the places of errors in UTF-16 too. */
export function parsedQuery(query: string, { treeJson, errors, ...parsed }: ParseIqlResponse): Json {
  const text = new CodePoints(query);
  const placed = errors.map((error) => {
    const { start, end } = text.range(Math.min(error.start, text.length), Math.min(error.end, text.length));
    return { ...error, startUtf16: start, endUtf16: end };
  });
  const tree = treeJson === "" ? {} : { tree: JSON.parse(treeJson) as unknown };
  return { ...tree, ...toJson({ ...parsed, errors: placed }) };
}
