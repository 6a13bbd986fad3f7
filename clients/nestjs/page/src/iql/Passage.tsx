import { useSignal } from "@preact/signals";
import { Button } from "../core/components/index.js";
import { TextLines } from "../viewer/TextLines.js";
import { linesOf } from "../viewer/lines.js";

/** Code units above which a passage is folded: about six lines. */
const FOLDED_FROM = 480;

/** The words of a passage; a long one is folded. */
export function Passage({ text, start }: { text: string; start: number }) {
  const isLong = text.length > FOLDED_FROM;
  const isFolded = useSignal(isLong);
  return (
    <>
      <blockquote class={isFolded.value ? "passage passage-folded" : "passage"}>
        <TextLines lines={linesOf(text, start, [])} current={-1} />
      </blockquote>
      {isLong && (
        <Button look="quiet" small aria-expanded={!isFolded.value} onClick={() => (isFolded.value = !isFolded.value)}>
          {isFolded.value ? "Show the whole passage" : "Show less"}
        </Button>
      )}
    </>
  );
}
