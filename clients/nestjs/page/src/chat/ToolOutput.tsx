import { ApiError, pathOf, withQuery } from "../core/api.js";
import { ErrorNote, Spinner } from "../core/components/index.js";
import type { TurnEventData } from "../core/contract.js";
import { serverEvents } from "../core/event-stream.js";
import { useLoaded } from "../core/use-loaded.js";
import { LEFT_OUT, turnEventOf } from "./turn-stream.js";

/** What a tool returned: turns are followed without it, so it is read when somebody wants to see it. */
export function ToolOutput({ turnId, callId }: { turnId: string; callId: string }) {
  const { found, failure, retry } = useLoaded((signal) => readEnd(turnId, callId, signal), [turnId, callId]);
  if (failure) return <ErrorNote error={failure} onRetry={retry} />;
  if (!found) return <Spinner label="Loading what the tool returned" />;
  if (!found.end) return <p class="answer-note">What the tool returned is no longer kept.</p>;
  return (
    <>
      <pre class="call-output">{found.end.output}</pre>
      {found.end.truncated && <p class="answer-note">The result is longer than what is shown.</p>}
    </>
  );
}

/** The end of a call as the turn's events have it; none where they are no longer kept. */
async function readEnd(
  turnId: string,
  callId: string,
  signal: AbortSignal,
): Promise<{ end: TurnEventData["tool_end"] | undefined }> {
  const leave_out = LEFT_OUT.filter((name) => name !== "tool_output").join(",");
  const url = withQuery(`${pathOf("turns", turnId)}/events`, { leave_out });
  try {
    for await (const message of serverEvents({ url }, signal)) {
      const { kind, data } = turnEventOf(message);
      if (kind === "tool_end" && data.call_id === callId) return { end: data };
    }
  } catch (error) {
    if (ApiError.from(error).reason !== "TURN_EXPIRED") throw error;
  }
  return { end: undefined };
}
