import { Button, Pill } from "../core/components/index.js";
import type { FinalState } from "../core/contract.js";
import { counted, formatDuration } from "../core/format.js";
import { useNavigation } from "../core/navigation.js";
import type { TurnView } from "./turn-view.js";

/** Under an answer: its sources in a line, what it took, and the way to what it was made of. */
export function AnswerFoot({ view, end }: { view: TurnView; end: FinalState }) {
  const navigation = useNavigation();
  const facts = [
    view.citations.length > 0 ? counted(view.citations.length, "citation") : "",
    end.duration_ms === undefined ? "" : formatDuration(end.duration_ms),
  ];
  return (
    <footer class="answer-foot">
      <span>{facts.filter((fact) => fact !== "").join(" · ")}</span>
      {end.from_cache && <Pill title="The same question was answered before">From cache</Pill>}
      {view.turnId !== "" && (
        <Button
          small
          look="quiet"
          onClick={() => {
            navigation.openSide({ kind: "context", turnId: view.turnId });
          }}
        >
          Context used
        </Button>
      )}
    </footer>
  );
}
