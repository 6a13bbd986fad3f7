import type { Document } from "../core/contract.js";
import { UploadQueue } from "./upload-queue.js";
import { upload } from "./upload.js";

interface MatterUploads {
  queue: UploadQueue;
  onStored: (document: Document) => void;
}

/** The uploads of all matters; they go on while another matter is looked at. */
export class Uploads {
  private readonly byMatter = new Map<string, MatterUploads>();

  /** The uploads into a matter; `onStored` replaces the one given before. */
  of(matterId: string, onStored: (document: Document) => void): UploadQueue {
    const known = this.byMatter.get(matterId);
    if (known !== undefined) {
      known.onStored = onStored;
      return known.queue;
    }
    const queue = new UploadQueue(
      (file, onShare) => upload(matterId, file, onShare),
      ({ document }) => this.byMatter.get(matterId)?.onStored(document),
    );
    this.byMatter.set(matterId, { queue, onStored });
    return queue;
  }

  /** Number of uploads into a matter that are not over. */
  unfinished(matterId: string): number {
    return this.byMatter.get(matterId)?.queue.unfinished.value ?? 0;
  }

  /** Cancels the uploads into a matter that is gone. */
  forget(matterId: string): void {
    this.byMatter.get(matterId)?.queue.close();
    this.byMatter.delete(matterId);
  }

  /** Asks before the page is left while uploads are under way; returns what ends that. */
  guard(page: Window): () => void {
    const ask = (event: BeforeUnloadEvent): void => {
      if ([...this.byMatter.values()].some(({ queue }) => queue.unfinished.peek() > 0)) event.preventDefault();
    };
    page.addEventListener("beforeunload", ask);
    return () => {
      page.removeEventListener("beforeunload", ask);
    };
  }
}
