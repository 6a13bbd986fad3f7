import type { ContextFill } from "../core/contract.js";
import { formatCount } from "../core/format.js";

/** How much of the room was used; a warning when it is nearly full. */
export function FillMeters({ fill }: { fill: ContextFill }) {
  return (
    <section class="context-block" aria-labelledby="fill-title">
      <h3 id="fill-title">Room</h3>
      {fill.near_limit && (
        <p class="fill-warning">
          The room is nearly used up. Remove items that are not needed, or begin a new conversation.
        </p>
      )}
      <Meter label="Conversation" unit="characters" used={fill.characters_used} limit={fill.characters_limit} />
      {fill.tokens_used !== undefined && (
        <Meter label="Conversation" unit="tokens" used={fill.tokens_used} limit={fill.tokens_limit ?? 0} />
      )}
      <Meter label="Items" unit="characters" used={fill.item_characters} limit={fill.item_characters_limit} />
      <Meter label="Items" unit="tokens, estimated" used={fill.item_tokens} limit={fill.item_tokens_limit} />
    </section>
  );
}

function Meter({ label, unit, used, limit }: { label: string; unit: string; used: number; limit: number }) {
  const words = limit > 0 ? `${formatCount(used)} of ${formatCount(limit)} ${unit}` : `${formatCount(used)} ${unit}`;
  return (
    <div class="fill">
      <p class="fill-words">
        <span>{label}</span> <span>{words}</span>
      </p>
      {limit > 0 && (
        <meter min={0} max={limit} high={limit * 0.8} optimum={0} value={used} aria-label={`${label}: ${words}`} />
      )}
    </div>
  );
}
