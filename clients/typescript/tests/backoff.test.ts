import { expect, test } from "vitest";
import { waitBefore } from "../src/backoff.js";

test("waits double up to the longest, and end after the tries allowed", () => {
  const waits = [1, 2, 3, 4, 5].map((number) => waitBefore(number, { firstMs: 100, maxMs: 350, maxTries: 4 }, () => 1));
  expect(waits).toEqual([100, 200, 350, 350, undefined]);
});

test("jitter takes away up to half", () => {
  expect(waitBefore(1, { firstMs: 100 }, () => 0)).toBe(50);
  expect(waitBefore(1, { firstMs: 100 }, () => 0.5)).toBe(75);
});
