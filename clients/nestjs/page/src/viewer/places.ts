import type { DocumentPlace } from "../core/navigation.js";
import type { Span } from "./text-window.js";

/** The places of a document to step through, and which of them is shown. `current` is -1 when there is none. */
export interface Places {
  spans: readonly Span[];
  current: number;
}

/** The places that were opened. */
export function placesOf({ start, end, spans }: DocumentPlace): Places {
  const own = start === undefined || end === undefined || end <= start ? undefined : { start, end };
  const all = spans ?? (own === undefined ? [] : [own]);
  const current = all.findIndex((span) => span.start === own?.start && span.end === own.end);
  return { spans: all, current: current < 0 ? Math.min(0, all.length - 1) : current };
}

/** The places with the next (1) or previous (-1) one shown; after the last comes the first. */
export function stepped({ spans, current }: Places, by: 1 | -1): Places {
  return { spans, current: spans.length === 0 ? -1 : (current + by + spans.length) % spans.length };
}
