import { describe, expect, test } from "vitest";
import { linesOf } from "../../src/viewer/lines.js";
import type { Span } from "../../src/viewer/text-window.js";

/** The offsets of some words in a text, in code points. */
function spanOf(text: string, words: string): Span {
  const start = Array.from(text.slice(0, text.indexOf(words))).length;
  return { start, end: start + Array.from(words).length };
}

function marked(text: string, start: number, spans: Span[], index = 0): string {
  return linesOf(text, start, spans)
    .map(({ runs }) => runs.filter(({ marks }) => marks.includes(index)).map((run) => run.text))
    .flat()
    .join("\n");
}

describe("a span is marked exactly", () => {
  test.each([
    ["plain text", "The Customer may assign.", "may assign"],
    ["behind emoji", "📄 Signed 👩‍⚖️ by the 🇳🇴 party.", "by the"],
    ["of emoji", "Approved 👩‍⚖️ on Monday.", "👩‍⚖️"],
    ["behind combining marks", "Die Ku\u0308ndigung und die Résumé\u0301 gelten.", "gelten"],
    ["with combining marks", "Die Ku\u0308ndigung gilt.", "Ku\u0308ndigung"],
    ["in Chinese", "本合同受中华人民共和国法律管辖。", "中华人民共和国"],
    ["behind characters of the supplementary planes", "𠮷野家 は 契約を 解除する。", "契約を"],
    ["over a line end", "First 😀 line\nsecond line", "line\nsecond"],
    ["of the whole text", "All of it 🎉", "All of it 🎉"],
  ])("%s", (_name, text, words) => {
    expect(marked(text, 0, [spanOf(text, words)])).toBe(words);
  });

  test("where the part does not begin with the document", () => {
    const text = "😀 one two three";
    const { start, end } = spanOf(text, "two");
    expect(marked(text, 5000, [{ start: start + 5000, end: end + 5000 }])).toBe("two");
  });
});

test("lines know where they begin in the document, in code points", () => {
  expect(linesOf("a😀\n\nb", 10, []).map(({ start }) => start)).toEqual([10, 13, 14]);
});

test("the runs of the lines together are the text", () => {
  const text = "one 😀 two\n\nthree\n";
  const spans = [
    { start: 2, end: 8 },
    { start: 4, end: 14 },
    { start: 100, end: 200 },
  ];
  const lines = linesOf(text, 0, spans);
  expect(lines.map(({ runs }) => runs.map((run) => run.text).join("")).join("\n")).toBe(text);
});

test("spans that overlap share the runs in which they do", () => {
  const [line] = linesOf("abcdef", 0, [
    { start: 0, end: 4 },
    { start: 2, end: 6 },
  ]);
  expect(line?.runs).toEqual([
    { text: "ab", marks: [0] },
    { text: "cd", marks: [0, 1] },
    { text: "ef", marks: [1] },
  ]);
});

test("a span is cut to the part that is loaded, and left out where nothing of it is", () => {
  const spans = [
    { start: 0, end: 12 },
    { start: 15, end: 90 },
    { start: 50, end: 60 },
  ];
  const [line] = linesOf("0123456789", 10, spans);
  expect(line?.runs.map(({ text, marks }) => [text, marks])).toEqual([
    ["01", [0]],
    ["234", []],
    ["56789", [1]],
  ]);
});
