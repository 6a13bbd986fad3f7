import { describe, expect, test } from "vitest";
import { CodePoints, utf16Range } from "../src/index.js";

const TEXTS = [
  "",
  "plain",
  "naïve cafe\u0301",
  "契約書",
  "👩‍⚖️ says 😀",
  "lone \ud83d surrogates \ude00",
  "a😀".repeat(3_000),
  "plain ".repeat(1_000) + "😀" + "é".repeat(2_000),
];

describe.each(TEXTS)("text %#", (text) => {
  const points = Array.from(text);
  const found = new CodePoints(text);
  const offsets =
    points.length < 50 ? [...points.keys(), points.length] : [0, 1, 1023, 1024, 1025, 2048, points.length];

  test("every offset is where the code points before it end", () => {
    expect(found.length).toBe(points.length);
    for (const offset of offsets) expect(found.toUtf16(offset)).toBe(points.slice(0, offset).join("").length);
  });

  test("a slice has the code points asked for", () => {
    for (const start of offsets)
      for (const end of offsets.filter((end) => end >= start))
        expect(found.slice(start, end)).toBe(points.slice(start, end).join(""));
  });

  test("what lies outside is refused", () => {
    for (const offset of [-1, 0.5, NaN, points.length + 1]) expect(() => found.toUtf16(offset)).toThrow(RangeError);
  });
});

test("a range is what slice takes", () => {
  const { start, end } = utf16Range("😀 Oregon", 2, 8);
  expect("😀 Oregon".slice(start, end)).toBe("Oregon");
});
