import { useEffect } from "preact/hooks";
import { Button, ErrorNote, Spinner } from "../core/components/index.js";
import { AnswerFoot } from "./AnswerFoot.js";
import { AnswerText } from "./AnswerText.js";
import { ApprovalCard } from "./ApprovalCard.js";
import { isWorthCompleting } from "./conversation.js";
import type { Conversation } from "./conversation.js";
import type { Exchange } from "./exchange.js";
import { focusQuestion } from "./focus-question.js";
import { ToolActivity } from "./ToolActivity.js";
import { TurnEnd } from "./TurnEnd.js";
import { answerText } from "./turn-view.js";

interface ExchangeViewProps {
  exchange: Exchange;
  conversation: Conversation;
  isLast: boolean;
}

/** A question, what was done for it, and its answer. */
export function ExchangeView({ exchange, conversation, isLast }: ExchangeViewProps) {
  useEffect(() => {
    if (isWorthCompleting(exchange, isLast)) void conversation.complete(exchange);
  }, [exchange, conversation, isLast]);
  const isRunning = conversation.running.value === exchange;
  const failure = exchange.failure.value;
  return (
    <article class="exchange">
      {exchange.question !== "" && (
        <div class="question">
          <h3 class="visually-hidden">You asked</h3>
          <p>{exchange.question}</p>
        </div>
      )}
      <div class="answer">
        <h3 class="visually-hidden">Answer</h3>
        <AnswerParts exchange={exchange} conversation={conversation} isRunning={isRunning} isLast={isLast} />
        {failure && (
          <ErrorNote
            error={failure}
            onRetry={conversation.canTryAgain(exchange) ? () => void conversation.tryAgain(exchange) : undefined}
          />
        )}
      </div>
    </article>
  );
}

type AnswerPartsProps = ExchangeViewProps & { isRunning: boolean };

function AnswerParts({ exchange, conversation, isRunning, isLast }: AnswerPartsProps) {
  const view = exchange.view.value;
  const text = answerText(view);
  const isWaiting =
    isRunning && text === "" && view.approvals.length === 0 && !view.calls.some((call) => call.isRunning);
  return (
    <>
      {exchange.decisions.map((decision, index) => (
        <p class="answer-note" key={index}>
          {decision}
        </p>
      ))}
      {view.calls.length > 0 && <ToolActivity turnId={view.turnId} calls={view.calls} />}
      {view.approvals.map((approval) => (
        <ApprovalCard
          key={approval.call_id}
          approval={approval}
          onDecide={async (decision) => {
            await conversation.decide(exchange, approval.call_id, decision);
            focusQuestion();
          }}
        />
      ))}
      {text !== "" && <AnswerText text={text} citations={view.citations} isGrowing={isRunning} />}
      {isWaiting && <Spinner label="Thinking" showLabel />}
      {isRunning && <RunningLine exchange={exchange} conversation={conversation} />}
      {view.end && <TurnEnd exchange={exchange} end={view.end} conversation={conversation} isLast={isLast} />}
      {view.end && <AnswerFoot view={view} end={view.end} onRate={(rating) => conversation.rate(exchange, rating)} />}
    </>
  );
}

/** What can be done about an answer that is being written, and whether it can be seen. */
function RunningLine({ exchange, conversation }: { exchange: Exchange; conversation: Conversation }) {
  return (
    <div class="running-line">
      {!conversation.isConnected.value && <span class="reconnecting">Reconnecting…</span>}
      {exchange.callFailure.value && <ErrorNote error={exchange.callFailure.value} />}
      {exchange.view.value.turnId !== "" && (
        <Button
          small
          onClick={() => {
            void conversation.stop();
            focusQuestion();
          }}
        >
          <span class="stop-mark" aria-hidden="true" /> Stop
        </Button>
      )}
    </div>
  );
}
