import { CodePoints } from "./code-points.js";

/** A part of a document's text. Offsets count code points, as in the contract; `end` is exclusive. */
export interface Span {
  start: number;
  end: number;
}

/** A part that was loaded, with its text. */
export interface Piece extends Span {
  text: string;
}

/** What of a document is loaded: pieces that follow each other without gap, `total` the length of the whole text. */
export interface TextWindow {
  pieces: readonly [Piece, ...Piece[]];
  total: number;
}

/** What to ask of the service: the text from `start`, at most `length` code points. */
export interface TextRange {
  start: number;
  length: number;
}

/** Code points asked for at a time: about four screens. */
export const PIECE_LENGTH = 8_000;

/** Most code points kept in the page; what is farthest from the reader is let go and loaded again when it is needed. */
export const WINDOW_LENGTH = 48_000;

/** A piece as the service answered it. */
export function pieceOf(start: number, text: string): Piece {
  return { start, end: start + new CodePoints(text).length, text };
}

/** The text around the beginning of a span, which stands after a quarter of it. */
export function rangeAround(span: Span): TextRange {
  return { start: Math.max(0, span.start - PIECE_LENGTH / 4), length: PIECE_LENGTH };
}

/** The text before what is loaded; undefined at the beginning of the document. */
export function rangeBefore(window: TextWindow): TextRange | undefined {
  const { start } = extent(window);
  if (start === 0) return undefined;
  const from = Math.max(0, start - PIECE_LENGTH);
  return { start: from, length: start - from };
}

/** The text after what is loaded; undefined at the end of the document. */
export function rangeAfter(window: TextWindow): TextRange | undefined {
  const { end } = extent(window);
  return end >= window.total ? undefined : { start: end, length: PIECE_LENGTH };
}

/** The window with a piece more, before or after it. One that does not adjoin (a late answer) changes nothing. */
export function extended(window: TextWindow, piece: Piece): TextWindow {
  const { start, end } = extent(window);
  if (piece.end === start) return { ...window, pieces: withinLimit([piece, ...window.pieces], "start") };
  if (piece.start === end) return { ...window, pieces: withinLimit([...window.pieces, piece], "end") };
  return window;
}

/** From where to where the text is loaded. */
export function extent(window: TextWindow): Span {
  const [first] = window.pieces;
  return { start: first.start, end: (window.pieces.at(-1) ?? first).end };
}

/** Whether a span can be shown: all of it is loaded, or of a long one as much as there is to see at a time. */
export function holds(window: TextWindow, span: Span): boolean {
  const { start, end } = extent(window);
  return start <= span.start && Math.min(span.end, span.start + PIECE_LENGTH / 2, window.total) <= end;
}

/** The text that is loaded. */
export function textOf(window: TextWindow): string {
  return window.pieces.map((piece) => piece.text).join("");
}

function withinLimit(pieces: [Piece, ...Piece[]], kept: "start" | "end"): [Piece, ...Piece[]] {
  const [first, ...rest] = pieces;
  const last = rest.at(-1);
  if (last === undefined || last.end - first.start <= WINDOW_LENGTH) return pieces;
  if (kept === "start") return withinLimit([first, ...rest.slice(0, -1)], kept);
  const [second, ...later] = rest;
  return second === undefined ? pieces : withinLimit([second, ...later], kept);
}
