import { expect, test } from "vitest";
import { ToldEnds } from "../src/chat/told-ends.js";

test("an end is that of its turn at its sequence", () => {
  const ends = new ToldEnds();
  ends.add("turn", 7);
  expect([ends.has("turn", 7), ends.has("turn", 6), ends.has("other", 7)]).toEqual([true, false, false]);
});

test("the oldest ends are forgotten, however often a turn's is told", () => {
  const ends = new ToldEnds(2);
  for (const turn of ["first", "second", "second", "third"]) ends.add(turn, 1);
  expect(["first", "second", "third"].map((turn) => ends.has(turn, 1))).toEqual([false, true, true]);
});
