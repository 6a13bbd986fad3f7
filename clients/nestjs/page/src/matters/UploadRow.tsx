import { Button } from "../core/components/index.js";
import { fileSize } from "./document-states.js";
import { CancelIcon } from "./icons.js";
import type { UploadItem } from "./upload-queue.js";

/** A file that is being uploaded, or could not be. */
export function UploadRow({ item, onCancel }: { item: UploadItem; onCancel: () => void }) {
  const { filename, state, share } = item;
  const percent = Math.round(share * 100);
  const unfinished = state === "queued" || state === "sending";
  return (
    <li class={`file upload upload-${state}`}>
      <span class="file-name">{filename}</span>
      {state === "sending" && <progress aria-label={`Upload of ${filename}`} max={100} value={percent} />}
      <div class="file-line">
        <p class="file-state">{wordsOf(item, percent)}</p>
        {unfinished && (
          <Button look="quiet" small aria-label={`Cancel the upload of ${filename}`} title="Cancel" onClick={onCancel}>
            <CancelIcon />
          </Button>
        )}
      </div>
    </li>
  );
}

function wordsOf({ state, size, failure }: UploadItem, percent: number): string {
  switch (state) {
    case "queued":
      return `Waits to be sent, ${fileSize(size)}`;
    case "sending":
      return percent < 100 ? `${percent}% of ${fileSize(size)} sent` : "Being stored";
    case "already_there":
      return "Already there: the matter has a document of the same content.";
    case "failed":
      return failure;
    case "cancelled":
      return "Cancelled; nothing was stored.";
  }
}
