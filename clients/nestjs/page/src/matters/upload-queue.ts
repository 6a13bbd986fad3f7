import { computed, signal } from "@preact/signals";
import { ApiError } from "../core/api.js";
import { uploadFailure } from "./upload-failure.js";
import type { Stored, Upload } from "./upload.js";

/** A file on its way into a matter. */
export interface UploadItem {
  id: number;
  filename: string;
  size: number;
  state: "queued" | "sending" | "already_there" | "failed" | "cancelled";
  /** Share of the bytes that is sent, 0 to 1. */
  share: number;
  /** Why it failed, in a sentence; empty otherwise. */
  failure: string;
}

/** Uploads at the same time: a browser allows six connections to a server, and the page needs some of them. */
const AT_A_TIME = 2;

/** Files taken at once; more are a job for `proviso ingest`. */
export const MOST_FILES = 200;

interface Waiting {
  id: number;
  file: File;
}

/** The uploads into one matter: a few at a time, each can be cancelled. Ended by `close`. */
export class UploadQueue {
  /** The uploads in the order in which they were added; one that has become a document is in the matter's list instead. */
  readonly items = signal<readonly UploadItem[]>([]);
  /** Number of uploads that are not over. */
  readonly unfinished = computed(() => this.items.value.filter(isUnfinished).length);
  private readonly waiting: Waiting[] = [];
  private readonly running = new Map<number, Upload>();
  private nextId = 1;

  constructor(
    private readonly send: (file: File, onShare: (share: number) => void) => Upload,
    private readonly onStored: (stored: Stored) => void,
  ) {}

  /** Takes files; an empty one fails at once, and what is over the limit is not taken. Returns how many were not. */
  add(files: readonly File[]): number {
    const taken = files.slice(0, Math.max(0, MOST_FILES - this.unfinished.peek()));
    for (const file of taken) this.take(file);
    this.startNext();
    return files.length - taken.length;
  }

  /** Ends an upload, or takes it from the queue. */
  cancel(id: number): void {
    const place = this.waiting.findIndex((waiting) => waiting.id === id);
    if (place >= 0) this.waiting.splice(place, 1);
    this.change(id, { state: "cancelled" });
    this.running.get(id)?.cancel();
  }

  /** Takes what is over from the list. */
  clearFinished(): void {
    this.items.value = this.items.value.filter(isUnfinished);
  }

  /** Cancels all. */
  close(): void {
    for (const { id } of this.items.value.filter(isUnfinished)) this.cancel(id);
  }

  private take(file: File): void {
    const id = this.nextId++;
    const failure = file.size === 0 ? EMPTY : "";
    const state = failure === "" ? "queued" : "failed";
    this.items.value = [...this.items.value, { id, filename: file.name, size: file.size, state, share: 0, failure }];
    if (failure === "") this.waiting.push({ id, file });
  }

  private startNext(): void {
    while (this.running.size < AT_A_TIME) {
      const next = this.waiting.shift();
      if (next === undefined) return;
      void this.run(next);
    }
  }

  private async run({ id, file }: Waiting): Promise<void> {
    this.change(id, { state: "sending" });
    const started = this.send(file, (share) => {
      this.change(id, { share });
    });
    this.running.set(id, started);
    try {
      const stored = await started.stored;
      if (stored.already_existed) this.change(id, { state: "already_there", share: 1 });
      else this.items.value = this.items.value.filter((item) => item.id !== id);
      this.onStored(stored);
    } catch (error) {
      const failure = uploadFailure(ApiError.from(error));
      if (this.item(id)?.state === "sending") this.change(id, { state: "failed", failure });
    } finally {
      this.running.delete(id);
      this.startNext();
    }
  }

  private item(id: number): UploadItem | undefined {
    return this.items.value.find((item) => item.id === id);
  }

  private change(id: number, change: Partial<UploadItem>): void {
    this.items.value = this.items.value.map((item) => (item.id === id ? { ...item, ...change } : item));
  }
}

function isUnfinished({ state }: UploadItem): boolean {
  return state === "queued" || state === "sending";
}

const EMPTY = "The file is empty. Save it again where it was made, then upload it.";
