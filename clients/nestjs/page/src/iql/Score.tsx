/** A score from 0 to 1 as a bar and a number; a score above `least` counts as a match. */
export function Score({ value, least }: { value: number; least?: number }) {
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
    </span>
  );
}
