import { useSignal } from "@preact/signals";
import { Disclosure, Pill, Spinner } from "../core/components/index.js";
import { formatDuration } from "../core/format.js";
import { argumentsOf, toolName, toolWords, valueWords } from "./tool-words.js";
import { ToolOutput } from "./ToolOutput.js";
import type { ToolCall } from "./turn-view.js";

/** A line for each tool call; opened, its arguments and what it returned. */
export function ToolActivity({ turnId, calls }: { turnId: string; calls: readonly ToolCall[] }) {
  return (
    <ul class="activity" aria-label="What was looked up">
      {calls.map((call) => (
        <li key={call.callId}>
          <Call turnId={turnId} call={call} />
        </li>
      ))}
    </ul>
  );
}

function Call({ turnId, call }: { turnId: string; call: ToolCall }) {
  const isOpen = useSignal(false);
  return (
    <Disclosure class="call" summary={<CallLine call={call} />} onToggle={(opened) => (isOpen.value = opened)}>
      <p class="call-name">{toolName(call)}</p>
      <h4>Arguments</h4>
      <Arguments inputJson={call.inputJson} />
      <h4>{call.error ? "Failure" : "Result"}</h4>
      {call.error && <pre class="call-output">{call.error}</pre>}
      {call.isRunning && <pre class="call-output">Running…</pre>}
      {isOpen.value && !call.error && !call.isRunning && <ToolOutput turnId={turnId} callId={call.callId} />}
    </Disclosure>
  );
}

/** Arguments as names and values. */
export function Arguments({ inputJson }: { inputJson: string }) {
  const given = argumentsOf(inputJson);
  if (!given) return <pre>{inputJson}</pre>;
  if (given.length === 0) return <p class="answer-note">None</p>;
  return (
    <dl class="arguments">
      {given.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{valueWords(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

function CallLine({ call }: { call: ToolCall }) {
  const { doing, subject } = toolWords(call);
  return (
    <span class="call-line">
      {call.isRunning && <Spinner label="Running" />}
      <span class="call-words">
        {doing} {subject && <q>{subject}</q>}
      </span>
      {call.error !== "" && <Pill tone="danger">Failed</Pill>}
      {call.fromCache && <Pill title="The result was kept from an earlier question">From cache</Pill>}
      {call.durationMs !== undefined && <span class="call-time">{formatDuration(call.durationMs)}</span>}
    </span>
  );
}
