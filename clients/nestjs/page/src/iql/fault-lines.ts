/** The line of a query that a fault stands in, cut at its place, as text in columns of one width. */
export interface FaultLine {
  /** Line and column, from 1; the column counts code points. */
  line: number;
  column: number;
  before: string;
  marked: string;
  after: string;
  /** "^" for each column of the place, at least one. */
  carets: string;
}

const TAB_STOP = 4;
const COMBINING = /^\p{M}$/u;
/** East Asian wide and fullwidth characters, and the emoji that are shown as pictures. */
const WIDE =
  /^[\u1100-\u115F\u2E80-\u303E\u3041-\u33FF\u3400-\u4DBF\u4E00-\u9FFF\uA000-\uA4CF\uA960-\uA97F\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{1F300}-\u{1F64F}\u{1F680}-\u{1F6FF}\u{1F900}-\u{1FAFF}\u{20000}-\u{3FFFD}]$/u;

/** The line of the place that begins at `start`; what reaches into the next line is left out. Offsets are UTF-16. */
export function faultLine(query: string, start: number, end: number): FaultLine {
  const from = query.slice(0, start).lastIndexOf("\n") + 1;
  const newline = query.indexOf("\n", start);
  const to = newline < 0 ? query.length : newline;
  const place = Math.min(Math.max(end, start), to);
  const before = withoutTabs(query.slice(from, start), 0);
  const marked = withoutTabs(query.slice(start, place), columns(before));
  return {
    line: query.slice(0, from).split("\n").length,
    column: Array.from(query.slice(from, start)).length + 1,
    before,
    marked,
    after: withoutTabs(query.slice(place, to), columns(before) + columns(marked)),
    carets: "^".repeat(Math.max(1, columns(marked))),
  };
}

/** Columns that a text takes up in a typeface of one width. */
export function columns(text: string): number {
  return Array.from(text).reduce((sum, character) => sum + width(character), 0);
}

function width(character: string): 0 | 1 | 2 {
  if (COMBINING.test(character) || character === "\u200D") return 0;
  return WIDE.test(character) ? 2 : 1;
}

/** The text with each tab as the blanks up to the next stop, where the text begins at a column. */
function withoutTabs(text: string, column: number): string {
  let shown = "";
  for (const part of text.split(/(\t)/)) {
    shown += part === "\t" ? " ".repeat(TAB_STOP - ((column + columns(shown)) % TAB_STOP)) : part;
  }
  return shown;
}
