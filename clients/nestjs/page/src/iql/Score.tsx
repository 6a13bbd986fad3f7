import type { Likelihood } from "./types";

const WORDS: Partial<Record<Likelihood, string>> = {
  LIKELIHOOD_UNLIKELY: "unlikely",
  LIKELIHOOD_POSSIBLE: "possible",
  LIKELIHOOD_LIKELY: "likely",
};

interface ScoreProps {
  value: number;
  least?: number;
  likelihood?: Likelihood;
}

/** A score from 0 to 1 as a bar, a number and what it means; a score above `least` counts as a match. */
export function Score({ value, least, likelihood }: ScoreProps) {
  const meaning = likelihood && WORDS[likelihood];
  const isMatch = least === undefined || value > least;
  const style = { "--score": value, ...(least === undefined ? {} : { "--least": least }) };
  return (
    <span class={isMatch ? "score" : "score score-low"}>
      <span class="score-bar" style={style} aria-hidden="true">
        {least !== undefined && <span class="score-least" />}
      </span>
      <span class="score-number">
        <span class="visually-hidden">Score </span>
        {value.toFixed(2)}
      </span>
      {meaning && <span class="score-meaning">{meaning}</span>}
    </span>
  );
}
