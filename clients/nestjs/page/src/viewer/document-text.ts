import { signal } from "@preact/signals";
import { ApiError, api, pathOf } from "../core/api.js";
import { extended, extent, holds, pieceOf, rangeAfter, rangeAround, rangeBefore } from "./text-window.js";
import type { Piece, Span, TextRange, TextWindow } from "./text-window.js";

/** Where a place of the text is, for people. `page` is 0 where the format has none. */
export interface Whereabouts {
  page: number;
  section_path: string[];
}

/** The gateway's answer about a part of a text. */
interface TextPart extends Whereabouts {
  text: string;
  filename: string;
  start: number;
  character_count: number;
}

/** A document's text, of which only the part around the reader is loaded. Ended by `close`. */
export class DocumentText {
  /** What is loaded; undefined until something is. */
  readonly window = signal<TextWindow | undefined>(undefined);
  readonly filename = signal("");
  /** The page and section that `locate` was asked for; undefined until they are known. */
  readonly where = signal<Whereabouts | undefined>(undefined);
  /** What went wrong at last. */
  readonly error = signal<ApiError | undefined>(undefined);
  private readonly closing = new AbortController();
  /** One part at a time is loaded: the newest place that was asked for, or what the reader scrolls to. */
  private loading: AbortController | undefined;
  private locating: AbortController | undefined;
  private located = -1;
  private readonly path: string;

  constructor(matterId: string, documentId: string) {
    this.path = pathOf("matters", matterId, "documents", documentId, "text");
  }

  /** Loads the text around a place, unless it is there. */
  async show(span: Span): Promise<void> {
    const window = this.window.peek();
    this.error.value = undefined;
    if (window !== undefined && holds(window, span)) return;
    await this.load(rangeAround(span), (piece, total) => ({ pieces: [piece], total }));
  }

  /** Loads what stands before or after the loaded part; does nothing while something is loading, or at the end. */
  async extend(edge: "before" | "after"): Promise<void> {
    const window = this.window.peek();
    if (window === undefined || this.loading !== undefined) return;
    const range = edge === "before" ? rangeBefore(window) : rangeAfter(window);
    if (range !== undefined) await this.load(range, (piece, total) => extended({ ...window, total }, piece));
  }

  /** Finds out the page and section of a place. Where that fails, what is known stays. */
  async locate(start: number): Promise<void> {
    if (start === this.located) return;
    this.located = start;
    this.locating?.abort();
    const locating = (this.locating = new AbortController());
    const part = await this.part({ start, max_chars: 1 }, locating.signal).catch(() => undefined);
    if (part !== undefined && !locating.signal.aborted) this.where.value = part;
  }

  /** Where a page begins. Throws ApiError where there is no such page. */
  async pageStart(page: number): Promise<number> {
    return (await this.part({ page, max_chars: 1 }, this.closing.signal)).start;
  }

  close(): void {
    this.closing.abort();
    this.loading?.abort();
    this.locating?.abort();
  }

  private async load(range: TextRange, change: (piece: Piece, total: number) => TextWindow): Promise<void> {
    this.loading?.abort();
    const loading = (this.loading = new AbortController());
    try {
      const part = await this.part({ start: range.start, max_chars: range.length }, loading.signal);
      if (loading.signal.aborted) return;
      this.filename.value = part.filename;
      this.window.value = change(pieceOf(part.start, part.text), part.character_count);
      this.error.value = undefined;
    } catch (error) {
      if (!loading.signal.aborted) this.error.value = ApiError.from(error);
    } finally {
      if (this.loading === loading) this.loading = undefined;
    }
  }

  private part(query: { start?: number; page?: number; max_chars: number }, signal: AbortSignal): Promise<TextPart> {
    return api.get<TextPart>(this.path, { query, signal: AbortSignal.any([signal, this.closing.signal]) });
  }
}

/** The start of the text that is loaded; 0 when nothing is. */
export function startOf(window: TextWindow | undefined): number {
  return window === undefined ? 0 : extent(window).start;
}
