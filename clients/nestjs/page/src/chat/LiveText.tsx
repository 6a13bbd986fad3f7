import type { Conversation } from "./conversation.js";
import type { Exchange } from "./exchange.js";
import { completeSentences } from "./sentences.js";
import { toolWords } from "./tool-words.js";
import { answerText } from "./turn-view.js";
import { endWords } from "./end-words.js";

/**
 * What a screen reader hears of the newest answer: each sentence once it is complete, each tool call, questions for an
 * approval, the end. Text that is discarded is taken away without a word.
 */
export function LiveText({ conversation }: { conversation: Conversation }) {
  const exchange = conversation.exchanges.value.at(-1);
  // Answers of the past are for reading, not for reading out.
  const wasAskedHere = exchange && (exchange === conversation.running.value || exchange.view.value.lastSequence > 0);
  return (
    <div
      class="visually-hidden"
      role="log"
      aria-live="polite"
      aria-relevant="additions"
      aria-label="Progress of the answer"
    >
      {wasAskedHere && <Spoken exchange={exchange} />}
      {!conversation.isConnected.value && <p>Reconnecting.</p>}
    </div>
  );
}

function Spoken({ exchange }: { exchange: Exchange }) {
  const view = exchange.view.value;
  const sentences = completeSentences(answerText(view), view.end !== undefined);
  return (
    <>
      {view.calls.map((call) => {
        const { doing, subject } = toolWords({ ...call, isRunning: true });
        return <p key={call.callId}>{`${doing} ${subject}`}</p>;
      })}
      {view.approvals.map(({ call_id, tool }) => (
        <p key={`approval ${call_id}`}>The tool {tool} waits for your approval.</p>
      ))}
      {sentences.map((sentence, index) => (
        <p key={`${index} ${sentence}`}>{sentence}</p>
      ))}
      {view.end && <p key="end">{endWords(view.end) || "The answer is complete."}</p>}
    </>
  );
}
