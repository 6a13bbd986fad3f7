import { Button, Pill } from "../core/components/index.js";
import type { FinalState, GivenRating } from "../core/contract.js";
import { counted, formatDuration } from "../core/format.js";
import { useNavigation } from "../core/navigation.js";
import { leftOutWords } from "./end-words.js";
import { RateAnswer } from "./RateAnswer.js";
import type { TurnView } from "./turn-view.js";

interface AnswerFootProps {
  view: TurnView;
  end: FinalState;
  onRate: (rating: GivenRating) => Promise<void>;
}

/**
 * Under an answer: what was left out of it, its sources in a line, what it took, the way to what it was made of, and what
 * the person says of it.
 */
export function AnswerFoot({ view, end, onRate }: AnswerFootProps) {
  const navigation = useNavigation();
  const facts = [
    view.citations.length > 0 ? counted(view.citations.length, "citation") : "",
    end.duration_ms === undefined ? "" : formatDuration(end.duration_ms),
  ];
  const leftOut = leftOutWords(end);
  return (
    <footer class="answer-foot">
      {leftOut !== "" && <p class="left-out">{leftOut}</p>}
      <span>{facts.filter((fact) => fact !== "").join(" · ")}</span>
      {end.from_cache && <Pill title="The same question was answered before">From cache</Pill>}
      {view.turnId !== "" && (
        <Button
          small
          look="quiet"
          class="context-used"
          onClick={() => {
            navigation.openSide({ kind: "context", turnId: view.turnId });
          }}
        >
          Context used
        </Button>
      )}
      {view.turnId !== "" && <RateAnswer rating={view.rating?.rating} onRate={onRate} />}
    </footer>
  );
}
