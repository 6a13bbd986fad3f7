import { useSignal } from "@preact/signals";
import { ApiError } from "../core/api.js";
import { Button } from "../core/components/index.js";
import { counted } from "../core/format.js";
import type { DocumentText } from "./document-text.js";
import { extent } from "./text-window.js";

interface PlaceInDocumentProps {
  text: DocumentText;
  onGo: (start: number) => void;
}

/** Goes to any place of a document of which only a part is loaded, and to a page where the format has pages. */
export function PlaceInDocument({ text, onGo }: PlaceInDocumentProps) {
  const window = text.window.value;
  if (window === undefined) return null;
  const { start, end } = extent(window);
  const whole = start === 0 && end >= window.total;
  const hasPages = (text.where.value?.page ?? 0) > 0;
  if (whole && !hasPages) return null;
  return (
    <footer class="viewer-foot">
      {!whole && <Position start={start} total={window.total} onGo={onGo} />}
      {hasPages && <PageNumber text={text} onGo={onGo} />}
    </footer>
  );
}

function Position({ start, total, onGo }: { start: number; total: number; onGo: (start: number) => void }) {
  const percent = Math.round((100 * start) / total);
  return (
    <label class="viewer-position">
      <span class="visually-hidden">Place in the document</span>
      <input
        type="range"
        min={0}
        max={100}
        value={percent}
        aria-valuetext={`${percent}% of ${counted(total, "character")}`}
        onChange={({ currentTarget }) => {
          onGo(Math.min(Math.floor((Number(currentTarget.value) / 100) * total), total - 1));
        }}
      />
    </label>
  );
}

function PageNumber({ text, onGo }: PlaceInDocumentProps) {
  const page = useSignal("");
  const problem = useSignal("");
  const go = async (): Promise<void> => {
    try {
      onGo(await text.pageStart(Number(page.peek())));
      problem.value = "";
    } catch (error) {
      problem.value = ApiError.from(error).message;
    }
  };
  return (
    <form
      class="viewer-page"
      onSubmit={(event) => {
        event.preventDefault();
        if (page.value !== "") void go();
      }}
    >
      <label for="viewer-page">Page</label>
      <input
        id="viewer-page"
        class="field"
        type="number"
        min={1}
        step={1}
        value={page.value}
        aria-describedby="viewer-page-problem"
        onInput={({ currentTarget }) => (page.value = currentTarget.value)}
      />
      <Button small type="submit">
        Go
      </Button>
      <span id="viewer-page-problem" class="viewer-problem" role="alert">
        {problem.value}
      </span>
    </form>
  );
}
