import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { Button, ErrorNote } from "../core/components/index.js";
import { UploadRow } from "./UploadRow.js";
import { UploadIcon } from "./icons.js";
import { EXTENSIONS } from "./upload-failure.js";
import { MOST_FILES } from "./upload-queue.js";
import type { UploadQueue } from "./upload-queue.js";

/** A part of the page that takes files, by its button and dropped onto it, and shows their uploads. */
export function Uploader({ queue, children }: { queue: UploadQueue; children: ComponentChildren }) {
  const input = useRef<HTMLInputElement>(null);
  const over = useSignal(false);
  const left = useSignal(0);
  const take = (files: FileList | null | undefined): void => {
    left.value = queue.add([...(files ?? [])]);
  };
  const items = queue.items.value;
  return (
    <div
      class={over.value ? "uploader uploader-over" : "uploader"}
      onDragOver={(event) => {
        if (!event.dataTransfer?.types.includes("Files")) return;
        event.preventDefault();
        over.value = true;
      }}
      onDragLeave={(event) => {
        if (!(event.relatedTarget instanceof Node && event.currentTarget.contains(event.relatedTarget)))
          over.value = false;
      }}
      onDrop={(event) => {
        event.preventDefault();
        over.value = false;
        take(event.dataTransfer?.files);
      }}
    >
      <input
        ref={input}
        type="file"
        class="visually-hidden"
        tabIndex={-1}
        multiple
        accept={EXTENSIONS.join(",")}
        aria-label="Files to upload"
        onChange={({ currentTarget }) => {
          take(currentTarget.files);
          currentTarget.value = "";
        }}
      />
      <Button class="upload-button" onClick={() => input.current?.click()}>
        <UploadIcon /> Upload documents
      </Button>
      <p class="hint">or drop files here: PDF, Word, HTML, Markdown, text</p>
      {left.value > 0 && <ErrorNote error={`${left.value} files were not taken: at most ${MOST_FILES} at a time.`} />}
      {items.length > 0 && (
        <div class="uploads">
          <ul aria-label="Uploads">
            {items.map((item) => (
              <UploadRow
                key={item.id}
                item={item}
                onCancel={() => {
                  queue.cancel(item.id);
                }}
              />
            ))}
          </ul>
          {items.length > queue.unfinished.value && (
            <Button
              look="quiet"
              small
              onClick={() => {
                queue.clearFinished();
              }}
            >
              Clear finished
            </Button>
          )}
        </div>
      )}
      {children}
    </div>
  );
}
