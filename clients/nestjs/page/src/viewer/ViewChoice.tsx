import { pathOf } from "../core/api.js";
import { Button } from "../core/components/index.js";
import type { DocumentPlace } from "../core/navigation.js";

/** How a document is shown: as the text that the service reads, or as the page that was uploaded. */
export type DocumentView = "text" | "page";

interface ViewChoiceProps {
  place: DocumentPlace;
  title: string;
  view: DocumentView;
  onChoose: (view: DocumentView) => void;
}

/** Whether a document's pages can be drawn. */
export function hasDrawnPages(title: string): boolean {
  return title.toLowerCase().endsWith(".pdf");
}

/** Chooses between the text and the page of a PDF, and gives the file as it was uploaded. */
export function ViewChoice({ place, title, view, onChoose }: ViewChoiceProps) {
  return (
    <div class="view-choice">
      {hasDrawnPages(title) && (
        <div role="group" aria-label="View">
          {(["text", "page"] as const).map((choice) => (
            <Button
              small
              aria-pressed={choice === view}
              onClick={() => {
                onChoose(choice);
              }}
            >
              {choice === "text" ? "Text" : "Page"}
            </Button>
          ))}
        </div>
      )}
      <a href={pathOf("matters", place.matterId, "documents", place.documentId, "content")} download={title}>
        Download original
      </a>
    </div>
  );
}
