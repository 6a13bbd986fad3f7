import { Button } from "../core/components/index.js";
import type { Places } from "./places.js";

/** Steps through the places of a document; not there when there is only one. */
export function Stepper({ places: { spans, current }, onStep }: { places: Places; onStep: (by: 1 | -1) => void }) {
  if (spans.length < 2) return null;
  return (
    <div class="stepper">
      <span role="status">
        Passage {current + 1} of {spans.length}
      </span>
      <Button
        small
        aria-keyshortcuts="p"
        title="Previous passage (p)"
        onClick={() => {
          onStep(-1);
        }}
      >
        Previous
      </Button>
      <Button
        small
        aria-keyshortcuts="n"
        title="Next passage (n)"
        onClick={() => {
          onStep(1);
        }}
      >
        Next
      </Button>
    </div>
  );
}
