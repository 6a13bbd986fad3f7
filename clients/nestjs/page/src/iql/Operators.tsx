import { Button } from "../core/components/index.js";

/** From what binds tightest to what binds loosest, as in the language. */
const OPERATORS = [
  ["+", "average", "The mean of both scores."],
  [">", "more than", "More about the first than the second: (A − B + 1) ÷ 2."],
  ["<", "less than", "Less about the first than the second: (B − A + 1) ÷ 2."],
  ["NOT", "not", "1 minus the score."],
  ["AND", "and", "The lower of both scores."],
  ["OR", "or", "The higher of both scores."],
] as const;

/** What the operators mean, each to be put in with a click. */
export function Operators({ onPick }: { onPick: (operator: string) => void }) {
  return (
    <>
      <ul class="operators">
        {OPERATORS.map(([operator, words, meaning]) => (
          <li key={operator}>
            <Button
              small
              aria-label={`Put in ${operator}, ${words}`}
              onClick={() => {
                onPick(operator);
              }}
            >
              <code>{operator}</code>
            </Button>
            <span>{meaning}</span>
          </li>
        ))}
      </ul>
      <p class="hint">
        From tightest to loosest; group with parentheses. Statements stand in braces, and a score above 0.5 means yes.
      </p>
    </>
  );
}
