import { toUtf16 } from "../core/code-points.js";
import type { Citation } from "../core/contract.js";

/** Words of one look, or the button of a citation. */
export type Inline =
  | { kind: "text"; text: string; isBold: boolean; isCode: boolean; cited?: number }
  | { kind: "cite"; citation: Citation };

export type Block =
  | { kind: "paragraph" | "heading" | "quote"; content: Inline[] }
  | { kind: "list"; isOrdered: boolean; first: number; items: Inline[][] };

/** A part of the answer in UTF-16, end exclusive. */
interface Range {
  start: number;
  end: number;
}

/** A citation, the part of the answer that it belongs to, and where its mark "[1]" stands; empty where it has none. */
interface Placed {
  citation: Citation;
  cited: Range;
  mark: Range;
}

interface Line extends Range {
  kind: "text" | "heading" | "quote" | "bullet" | "number" | "blank";
  number: number;
}

/**
 * The answer as blocks: paragraphs, lists, quotations and headings, with **bold** and `code` in them. Whatever else it
 * holds stays as it is. Every citation is somewhere in the blocks, once.
 */
export function answerBlocks(text: string, citations: readonly Citation[]): Block[] {
  const placed = citations.map((citation) => place(text, citation)).sort((a, b) => a.mark.start - b.mark.start);
  const blocks: Block[] = [];
  let last: Line | undefined;
  for (const line of linesOf(text)) {
    if (line.kind !== "blank") append(blocks, last, line, inlines(text, line, placed));
    last = line;
  }
  return blocks;
}

function append(blocks: Block[], last: Line | undefined, line: Line, content: Inline[]): void {
  const block = blocks.at(-1);
  if (line.kind === "bullet" || line.kind === "number") {
    const isOrdered = line.kind === "number";
    if (block?.kind === "list" && block.isOrdered === isOrdered) block.items.push(content);
    else blocks.push({ kind: "list", isOrdered, first: line.number, items: [content] });
  } else if (line.kind === "heading") {
    blocks.push({ kind: "heading", content });
  } else if (last && last.kind !== "blank" && block && block.kind !== "heading") {
    goOn(blocks, block, line, content);
  } else {
    blocks.push({ kind: line.kind === "quote" ? "quote" : "paragraph", content });
  }
}

/** A line right under a block belongs to it, but for a quotation's beginning. */
function goOn(blocks: Block[], block: Block, line: Line, content: Inline[]): void {
  const isQuote = line.kind === "quote";
  if (isQuote !== (block.kind === "quote")) {
    blocks.push({ kind: isQuote ? "quote" : "paragraph", content });
    return;
  }
  const target = block.kind === "list" ? block.items.at(-1) : block.content;
  target?.push({ kind: "text", text: "\n", isBold: false, isCode: false }, ...content);
}

const BEGINNINGS: readonly [Line["kind"], RegExp][] = [
  ["heading", /^#{1,6} +/],
  ["quote", /^> ?/],
  ["bullet", /^\s*[-*•] +/],
  ["number", /^\s*(\d{1,3})[.)] +/],
];

function* linesOf(text: string): Generator<Line> {
  let start = 0;
  for (const line of text.split("\n")) {
    const end = start + line.length;
    yield lineOf(line, start, end);
    start = end + 1;
  }
}

function lineOf(line: string, start: number, end: number): Line {
  if (line.trim() === "") return { kind: "blank", start, end, number: 0 };
  for (const [kind, beginning] of BEGINNINGS) {
    const found = beginning.exec(line);
    if (found) return { kind, start: start + found[0].length, end, number: Number(found[1] ?? 0) };
  }
  return { kind: "text", start, end, number: 0 };
}

function place(text: string, citation: Citation): Placed {
  const cited = citation.answer_utf16 ?? {
    start: toUtf16(text, citation.answer_start),
    end: toUtf16(text, citation.answer_end),
  };
  const end = Math.min(cited.end, text.length);
  const mark = citation.number > 0 ? `[${citation.number}]` : "";
  const start = text.endsWith(mark, end) ? end - mark.length : end;
  return { citation, cited: { start: cited.start, end: start }, mark: { start, end } };
}

interface Run extends Range {
  isBold: boolean;
  isCode: boolean;
}

function inlines(text: string, line: Range, placed: readonly Placed[]): Inline[] {
  const here = placed.filter(({ mark }) => mark.start >= line.start && mark.start <= line.end);
  const content: Inline[] = [];
  for (const run of runsOf(text, line)) {
    let start = run.start;
    for (const found of here.filter(({ mark }) => mark.start >= run.start && mark.start < run.end)) {
      words(content, text, { ...run, start, end: found.mark.start }, placed);
      content.push({ kind: "cite", citation: found.citation });
      start = Math.max(start, found.mark.end);
    }
    words(content, text, { ...run, start }, placed);
  }
  const shown = new Set(content.map((inline) => (inline.kind === "cite" ? inline.citation : undefined)));
  for (const { citation } of here) if (!shown.has(citation)) content.push({ kind: "cite", citation });
  return content;
}

/** The run's words, cut where cited parts begin and end. */
function words(content: Inline[], text: string, run: Run, placed: readonly Placed[]): void {
  const edges = placed.flatMap(({ cited }) => [cited.start, cited.end]).filter((at) => at > run.start && at < run.end);
  const cuts = [run.start, ...[...new Set(edges)].sort((a, b) => a - b), run.end];
  cuts.slice(0, -1).forEach((start, index) => {
    const end = cuts[index + 1] ?? run.end;
    if (start >= end) return;
    const part = placed.find(({ cited }) => cited.start <= start && end <= cited.end);
    const { isBold, isCode } = run;
    const cited = part ? { cited: part.citation.number } : {};
    content.push({ kind: "text", text: text.slice(start, end), isBold, isCode, ...cited });
  });
}

/** The line without its marks of bold and code, which are left where they have no partner. */
function* runsOf(text: string, line: Range): Generator<Run> {
  const marked = /\*\*(?=\S)(.+?)(?<=\S)\*\*|`([^`]+)`/g;
  const source = text.slice(line.start, line.end);
  let start = 0;
  for (const found of source.matchAll(marked)) {
    const width = found[1] === undefined ? 1 : 2;
    const end = found.index + found[0].length;
    if (found.index > start) yield plain(line.start + start, line.start + found.index);
    const inner = { start: line.start + found.index + width, end: line.start + end - width };
    yield { ...inner, isBold: width === 2, isCode: width === 1 };
    start = end;
  }
  if (start < source.length) yield plain(line.start + start, line.end);
}

function plain(start: number, end: number): Run {
  return { start, end, isBold: false, isCode: false };
}
