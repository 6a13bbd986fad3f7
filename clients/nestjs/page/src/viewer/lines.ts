import { CodePoints } from "./code-points.js";
import type { Span } from "./text-window.js";

/** A run of a line's text; `marks` are the indexes of the spans that it belongs to. */
export interface Run {
  text: string;
  marks: readonly number[];
}

/** A line of the document, without its line end. `start` counts code points from the beginning of the document. */
export interface Line {
  start: number;
  runs: readonly Run[];
}

interface Marked {
  index: number;
  from: number;
  to: number;
}

/** The lines of a part of a document that begins at code point `start`, cut into runs where spans begin and end. */
export function linesOf(text: string, start: number, spans: readonly Span[]): Line[] {
  const marked = inUtf16(text, start, spans);
  const lines: Line[] = [];
  let unit = 0;
  let offset = start;
  for (const line of text.split("\n")) {
    lines.push({ start: offset, runs: runsOf(line, unit, marked) });
    unit += line.length + 1;
    offset += new CodePoints(line).length + 1;
  }
  return lines;
}

/** The spans as ranges of the text's UTF-16, cut to the part that is there; those outside of it are left out. */
function inUtf16(text: string, start: number, spans: readonly Span[]): Marked[] {
  const points = new CodePoints(text);
  const within = (offset: number): number => points.toUtf16(Math.min(Math.max(offset - start, 0), points.length));
  return spans
    .map((span, index) => ({ index, from: within(span.start), to: within(span.end) }))
    .filter(({ from, to }) => from < to);
}

function runsOf(line: string, lineStart: number, marked: readonly Marked[]): Run[] {
  const here = marked
    .map(({ index, from, to }) => ({
      index,
      from: Math.max(0, from - lineStart),
      to: Math.min(line.length, to - lineStart),
    }))
    .filter(({ from, to }) => from < to);
  if (here.length === 0) return line === "" ? [] : [{ text: line, marks: [] }];
  const cuts = [...new Set([0, line.length, ...here.flatMap(({ from, to }) => [from, to])])].sort((a, b) => a - b);
  return cuts.slice(1).map((to, i) => {
    const from = cuts[i] ?? 0;
    const marks = here.filter((mark) => mark.from <= from && to <= mark.to).map(({ index }) => index);
    return { text: line.slice(from, to), marks };
  });
}
