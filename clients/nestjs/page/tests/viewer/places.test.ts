import { expect, test } from "vitest";
import { placesOf, stepped } from "../../src/viewer/places.js";

const PLACE = { matterId: "m", documentId: "d" };
const SPANS = [
  { start: 0, end: 5 },
  { start: 10, end: 20 },
  { start: 30, end: 31 },
];

test("the place that was opened is shown first, among the others", () => {
  expect(placesOf({ ...PLACE, start: 10, end: 20, spans: SPANS })).toEqual({ spans: SPANS, current: 1 });
});

test("a citation is a place of its own", () => {
  expect(placesOf({ ...PLACE, start: 3, end: 9 })).toEqual({ spans: [{ start: 3, end: 9 }], current: 0 });
});

test("a document that is opened without a place has none", () => {
  expect(placesOf(PLACE)).toEqual({ spans: [], current: -1 });
  expect(placesOf({ ...PLACE, start: 7, end: 7 })).toEqual({ spans: [], current: -1 });
});

test("stepping goes around at both ends", () => {
  const first = { spans: SPANS, current: 0 };
  expect(stepped(first, -1).current).toBe(2);
  expect(stepped(stepped(first, -1), 1).current).toBe(0);
  expect(stepped({ spans: [], current: -1 }, 1).current).toBe(-1);
});
