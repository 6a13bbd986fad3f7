import { afterEach, expect, test, vi } from "vitest";
import { LiveParse } from "../../src/iql/live-parse.js";
import { gatewayWith } from "../support/gateway.js";

afterEach(() => {
  vi.unstubAllGlobals();
});

test("why a query could not be read is told until there is none, or one is read", async () => {
  const answers: Record<string, unknown> = {};
  gatewayWith(answers);
  const parse = new LiveParse();
  await parse.read("{A}", undefined);
  expect(parse.error.value?.message).toBe("Not found");
  parse.changed(" ", undefined);
  expect(parse.error.value).toBeUndefined();
  await parse.read("{A}", undefined);
  answers["POST /iql/parse"] = { canonical: "{A}", statements: [], estimated_model_calls: 0, errors: [] };
  await parse.read("{A}", undefined);
  expect(parse.error.value).toBeUndefined();
  expect(parse.last.value?.query).toBe("{A}");
});
