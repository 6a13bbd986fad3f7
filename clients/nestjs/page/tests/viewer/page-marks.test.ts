import { expect, test } from "vitest";
import { stripsOver } from "../../src/viewer/page-marks.js";
import type { PageWord } from "../../src/viewer/page-marks.js";

function word(x: number, y: number, width = 40): PageWord {
  return { start: 0, end: 4, x, y, width, height: 10 };
}

function strips(...words: PageWord[]) {
  return stripsOver({ page: 1, page_count: 1, has_layout: true, width: 200, height: 400, words });
}

test("words of a line share a strip, and each line has its own", () => {
  expect(strips(word(100, 20), word(144, 21), word(20, 36))).toEqual([
    { left: 50, top: 5, width: 42, height: 2.75 },
    { left: 10, top: 9, width: 20, height: 2.5 },
  ]);
});

test("cells of a table, and words at the left of the one before, do not share a strip", () => {
  expect(strips(word(10, 20), word(90, 20))).toHaveLength(2);
  expect(strips(word(90, 20), word(10, 20))).toHaveLength(2);
});

test("a page without layout has none", () => {
  expect(stripsOver({ page: 1, page_count: 1, has_layout: false, width: 0, height: 0 })).toEqual([]);
});
