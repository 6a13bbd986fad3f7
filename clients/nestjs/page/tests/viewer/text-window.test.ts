import { describe, expect, test } from "vitest";
import {
  PIECE_LENGTH,
  WINDOW_LENGTH,
  extended,
  extent,
  holds,
  pieceOf,
  rangeAfter,
  rangeAround,
  rangeBefore,
  textOf,
} from "../../src/viewer/text-window.js";
import type { TextRange, TextWindow } from "../../src/viewer/text-window.js";

/** A document in which every character is two UTF-16 units, so that the two ways of counting cannot be mixed up. */
const DOCUMENT = Array.from("😀📄⚖".repeat(40_000));
const TOTAL = DOCUMENT.length;

function loaded({ start, length }: TextRange) {
  return pieceOf(start, DOCUMENT.slice(start, start + length).join(""));
}

function windowAround(start: number): TextWindow {
  return { pieces: [loaded(rangeAround({ start, end: start + 10 }))], total: TOTAL };
}

function scrolledTo(edge: "start" | "end", from: TextWindow): TextWindow {
  let window = from;
  const range = edge === "end" ? rangeAfter : rangeBefore;
  for (let next = range(window); next !== undefined; next = range(window)) window = extended(window, loaded(next));
  return window;
}

test("only the part around a span is loaded first, and it holds the span", () => {
  const window = windowAround(50_000);
  expect(extent(window)).toEqual({ start: 48_000, end: 48_000 + PIECE_LENGTH });
  expect(holds(window, { start: 50_000, end: 50_010 })).toBe(true);
  expect(holds(window, { start: 90_000, end: 90_010 })).toBe(false);
});

test("a span at the very beginning is loaded from the beginning", () => {
  expect(rangeAround({ start: 5, end: 9 })).toEqual({ start: 0, length: PIECE_LENGTH });
});

describe.each(["start", "end"] as const)("scrolling to the %s of the document", (edge) => {
  const window = scrolledTo(edge, windowAround(50_000));

  test("arrives there", () => {
    expect(extent(window)[edge]).toBe(edge === "start" ? 0 : TOTAL);
  });

  test("keeps a bounded part, without gap and as in the document", () => {
    const { start, end } = extent(window);
    expect(end - start).toBeLessThanOrEqual(WINDOW_LENGTH);
    expect(end - start).toBeGreaterThan(WINDOW_LENGTH - 2 * PIECE_LENGTH);
    expect(textOf(window)).toBe(DOCUMENT.slice(start, end).join(""));
  });
});

test("what was let go is loaded again on the way back", () => {
  const window = scrolledTo("start", scrolledTo("end", windowAround(50_000)));
  expect(extent(window).start).toBe(0);
});

test("the beginning is loaded up to the part that is there, not over it", () => {
  const window = { pieces: [loaded({ start: 3_000, length: 100 })], total: TOTAL } satisfies TextWindow;
  expect(rangeBefore(window)).toEqual({ start: 0, length: 3_000 });
});

test("an answer that came late and adjoins nothing changes nothing", () => {
  const window = windowAround(50_000);
  expect(extended(window, loaded({ start: 90_000, length: 10 }))).toBe(window);
});

test("a span that is longer than what is loaded at a time is shown from its beginning", () => {
  const window = windowAround(50_000);
  expect(holds(window, { start: 50_000, end: 50_000 + 3 * PIECE_LENGTH })).toBe(true);
  expect(holds(window, { start: 55_000, end: 55_000 + 3 * PIECE_LENGTH })).toBe(false);
});

test("a span that reaches over the end of the document is held with all there is of it", () => {
  const window = { pieces: [pieceOf(0, "short")], total: 5 } satisfies TextWindow;
  expect(holds(window, { start: 2, end: 99 })).toBe(true);
});
