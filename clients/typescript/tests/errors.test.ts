import { expect, test, vi } from "vitest";

import { ProvisoError } from "../src/index.js";

test("an error of another copy of the package keeps what it says", async () => {
  vi.resetModules();
  const another = await import("../src/index.js");
  const thrown = new another.ProvisoError(8, "too many turns", { reason: "TOO_BUSY", retryAfterMs: 1000 });
  expect(thrown).not.toBeInstanceOf(ProvisoError);
  const read = ProvisoError.from(thrown);
  expect(read).toBeInstanceOf(ProvisoError);
  expect(read).toMatchObject({ status: "RESOURCE_EXHAUSTED", reason: "TOO_BUSY", retryAfterMs: 1000, cause: thrown });
  expect(read.message).toBe("too many turns");
});

test("what is no failed call is UNKNOWN, with its cause", () => {
  const cause = new TypeError("no such thing");
  expect(ProvisoError.from(cause)).toMatchObject({ status: "UNKNOWN", reason: undefined, cause });
  expect(ProvisoError.from("words").message).toBe("words");
});
