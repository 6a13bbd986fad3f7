import type { TurnView } from "../chat/turn-view.js";
import { counted, formatCount, formatDuration } from "../core/format.js";

/** What the answer took: model, time, calls, tokens. */
export function TurnFacts({ view }: { view: TurnView }) {
  const { end, model } = view;
  const usage = end?.usage;
  const facts: [name: string, value: string][] = [];
  if (model) facts.push(["Model", model]);
  if (end?.duration_ms !== undefined) facts.push(["Time", formatDuration(end.duration_ms)]);
  if (usage) {
    facts.push(["Model calls", formatCount(usage.model_calls)]);
    const cached = usage.cached_input_tokens > 0 ? `, ${formatCount(usage.cached_input_tokens)} from a cache` : "";
    facts.push([
      "Tokens",
      `${formatCount(usage.input_tokens)} sent${cached}, ${formatCount(usage.output_tokens)} written`,
    ]);
  }
  if (view.calls.length > 0) facts.push(["Tools", counted(view.calls.length, "call")]);
  if (facts.length === 0) return null;
  return (
    <section class="context-block" aria-labelledby="facts-title">
      <h3 id="facts-title">What it took</h3>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
