import { useMemo } from "preact/hooks";
import { Button } from "../core/components/index.js";
import type { FinalState } from "../core/contract.js";
import { useSecondsLeft } from "../core/use-seconds-left.js";
import { ContextPicker } from "./ContextPicker.js";
import type { Conversation } from "./conversation.js";
import { choiceFor, endWords, isRetryable } from "./end-words.js";
import type { Exchange } from "./exchange.js";

interface TurnEndProps {
  exchange: Exchange;
  end: FinalState;
  conversation: Conversation;
  isLast: boolean;
}

/** Why a turn ended, and what the person can do about it; nothing for a usual answer. */
export function TurnEnd({ exchange, end, conversation, isLast }: TurnEndProps) {
  const words = endWords(end);
  const choice = isLast && exchange.question !== "" ? choiceFor(end.context_problem) : undefined;
  return (
    <>
      {words !== "" && (
        <div class="turn-end">
          <p>{words}</p>
          {isLast && isRetryable(end) && exchange.question !== "" && (
            <Retry
              waitMs={end.retry_after_ms ?? 0}
              isBusy={conversation.running.value !== undefined}
              onRetry={() => void conversation.askAgain(exchange)}
            />
          )}
        </div>
      )}
      {choice && <ContextPicker choice={choice} exchange={exchange} conversation={conversation} />}
    </>
  );
}

/** The way to ask again; shut as long as the provider asks to wait. */
function Retry({ waitMs, isBusy, onRetry }: { waitMs: number; isBusy: boolean; onRetry: () => void }) {
  const until = useMemo(() => Date.now() + waitMs, [waitMs]);
  const left = useSecondsLeft(waitMs > 0 ? until : undefined);
  return (
    <Button small disabled={left > 0 || isBusy} onClick={onRetry}>
      {left > 0 ? `Try again in ${left} s` : "Try again"}
    </Button>
  );
}
