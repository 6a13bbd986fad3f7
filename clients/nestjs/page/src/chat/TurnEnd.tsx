import { useMemo } from "preact/hooks";
import { Button } from "../core/components/index.js";
import type { FinalState } from "../core/contract.js";
import { formatCountdown, formatTime } from "../core/format.js";
import { useSecondsLeft } from "../core/use-seconds-left.js";
import { ContextPicker } from "./ContextPicker.js";
import type { Conversation } from "./conversation.js";
import { ContinueOffer } from "./ContinueOffer.js";
import { choiceFor, endWords, isFull, isRetryable } from "./end-words.js";
import type { Exchange } from "./exchange.js";
import { focusQuestion } from "./focus-question.js";

interface TurnEndProps {
  exchange: Exchange;
  end: FinalState;
  conversation: Conversation;
  isLast: boolean;
}

/** Why a turn ended, and what the person can do about it; nothing for a usual answer. */
export function TurnEnd({ exchange, end, conversation, isLast }: TurnEndProps) {
  const words = [endWords(end), notBefore(end, exchange.view.value.endTime)].filter((part) => part !== "").join(" ");
  const isNearlyFull = end.request_context?.fill?.near_limit === true;
  const choice = isLast && exchange.question !== "" ? choiceFor(end.context_problem) : undefined;
  return (
    <>
      {words !== "" && (
        <div class="turn-end">
          <p>{words}</p>
          {isLast && isRetryable(end) && exchange.question !== "" && (
            <Retry
              waitMs={end.retry_after_ms ?? 0}
              endTime={exchange.view.value.endTime}
              isBusy={conversation.running.value !== undefined}
              onRetry={() => {
                void conversation.askAgain(exchange);
                focusQuestion();
              }}
            />
          )}
        </div>
      )}
      {isLast && (isFull(end) || isNearlyFull) && <ContinueOffer isFull={isFull(end)} conversation={conversation} />}
      {choice && <ContextPicker choice={choice} exchange={exchange} conversation={conversation} />}
    </>
  );
}

interface RetryProps {
  waitMs: number;
  /** When the turn ended, in milliseconds since the epoch. */
  endTime: number | undefined;
  isBusy: boolean;
  onRetry: () => void;
}

/** The way to ask again; shut as long as the provider asks to wait, from the turn's end on. */
function Retry({ waitMs, endTime, isBusy, onRetry }: RetryProps) {
  const until = useMemo(() => Math.min(Date.now(), endTime ?? Infinity) + waitMs, [waitMs, endTime]);
  const left = useSecondsLeft(waitMs > 0 ? until : undefined);
  return (
    <Button small disabled={left > 0 || isBusy} onClick={onRetry}>
      {left > 0 ? `Try again in ${formatCountdown(left)}` : "Try again"}
    </Button>
  );
}

/** When another try can help that cannot now; empty where nothing is known of it. */
function notBefore(end: FinalState, endTime: number | undefined): string {
  if (end.retry_after_ms === undefined || endTime === undefined || isRetryable(end)) return "";
  return `Not before ${formatTime(new Date(endTime + end.retry_after_ms).toISOString())}.`;
}
