import type { ContextProblem, ExitCause, ExitReason, FinalState } from "../core/contract.js";
import { counted } from "../core/format.js";

/** A line under an answer that did not end as usual; its message says the rest. */
const CAUSES: Partial<Record<ExitCause, string>> = {
  EXIT_CAUSE_BLOCKED: "Blocked by the provider’s rules of safety.",
  EXIT_CAUSE_CUT: "Cut off at the length that the language model may write.",
  EXIT_CAUSE_RECITATION: "Held back by the provider, for it repeats a published text.",
  EXIT_CAUSE_LANGUAGE: "The language model does not support this language.",
  EXIT_CAUSE_EMPTY: "The language model returned nothing.",
  EXIT_CAUSE_MALFORMED: "The language model’s call of a tool could not be read.",
  EXIT_CAUSE_UNGROUNDED: "No answer could be grounded in the sources.",
  EXIT_CAUSE_NOTHING_FOUND: "Nothing was found to answer from.",
  EXIT_CAUSE_STOPPED: "Ended by the provider, without a reason.",
  EXIT_CAUSE_MESSAGE_TOO_LONG: "The question is too long.",
  EXIT_CAUSE_CONVERSATION_FULL: "This conversation is full.",
  EXIT_CAUSE_PROVIDER_PAUSED: "The language model keeps failing, and is not called for a while.",
  EXIT_CAUSE_PROVIDER_FAILED: "The language model could not be reached, or failed.",
  EXIT_CAUSE_PROVIDER_REFUSED: "The provider refused the call: whoever runs this service has to look into it.",
  EXIT_CAUSE_OVER_BUDGET: "The budget of the language model is used up.",
  EXIT_CAUSE_ABANDONED: "Stopped, for nobody read it.",
  EXIT_CAUSE_STOPPING: "Stopped with the service.",
};

/** Where there is no cause that says more. */
const REASONS: Partial<Record<ExitReason, string>> = {
  EXIT_REASON_MAX_TURNS_REACHED: "Stopped at the limit of steps.",
  EXIT_REASON_MAX_TOOL_CALLS_REACHED: "Answered at the limit of tool calls, with what was found until then.",
  EXIT_REASON_MAX_CONTEXT_REACHED: "This conversation is full.",
  EXIT_REASON_EMPTY_INPUT: "Nothing was asked.",
  EXIT_REASON_RATE_LIMITED: "The language model is busy.",
  EXIT_REASON_LLM_ERROR: "The language model failed.",
  EXIT_REASON_LLM_GENERATION_FAILURE: "There is no answer.",
  EXIT_REASON_INVALID_TOOL_CALL: "The language model asked for something that it cannot do.",
  EXIT_REASON_CANCELLED: "Stopped.",
  EXIT_REASON_DEADLINE_EXCEEDED: "Stopped at the time limit.",
  EXIT_REASON_INTERNAL_ERROR: "Something went wrong in the service.",
};

/** Why the turn ended, in a line; empty for a usual answer. */
export function endWords({ exit_reason: reason, exit_cause: cause }: FinalState): string {
  return CAUSES[cause] ?? REASONS[reason] ?? "";
}

/** Whether the conversation has no room for another question. */
export function isFull({ exit_reason: reason, exit_cause: cause }: FinalState): boolean {
  return reason === "EXIT_REASON_MAX_CONTEXT_REACHED" && cause !== "EXIT_CAUSE_MESSAGE_TOO_LONG";
}

const ANSWERED: ReadonlySet<ExitReason> = new Set([
  "EXIT_REASON_COMPLETED",
  "EXIT_REASON_MAX_TOOL_CALLS_REACHED",
  "EXIT_REASON_EMPTY_INPUT",
]);
const REFUSED: ReadonlySet<ExitCause> = new Set(["EXIT_CAUSE_NOTHING_FOUND", "EXIT_CAUSE_UNGROUNDED"]);

/** Whether the question came to nothing: neither answered nor refused after a look at the documents, nor stopped here. */
export function isLost({ exit_reason: reason, exit_cause: cause, retryable }: FinalState): boolean {
  if (reason === "EXIT_REASON_CANCELLED") return retryable === "RETRYABLE_YES";
  return !ANSWERED.has(reason) && !REFUSED.has(cause);
}

/** What the answer lacks of what the model wrote; empty where it lacks nothing. */
export function leftOutWords(end: FinalState): string {
  const { omitted_sentences: omitted, message_truncated: isCut, removed_markup: removed } = end;
  const sentences =
    omitted > 0
      ? `${counted(omitted, "sentence was", "sentences were")} left out, because no source holds what the model wrote there.`
      : "";
  const rest = isCut ? "The end of the answer was left out: it is longer than the service sends." : "";
  const markup = removed > 0 ? "Images, web addresses or HTML that no source holds were taken out of it." : "";
  return [sentences, markup, rest].filter((words) => words !== "").join(" ");
}

/** Whether asking again can help. */
export function isRetryable({ retryable }: FinalState): boolean {
  return retryable === "RETRYABLE_YES" || retryable === "RETRYABLE_MAYBE";
}

/** What the person chooses to mend the problem: a matter, or a document. */
export function choiceFor(problem: ContextProblem): "matter" | "document" | undefined {
  switch (problem) {
    case "CONTEXT_PROBLEM_MATTER_REQUIRED":
    case "CONTEXT_PROBLEM_MATTER_NOT_FOUND":
      return "matter";
    case "CONTEXT_PROBLEM_DOCUMENT_PROCESSING":
    case "CONTEXT_PROBLEM_DOCUMENT_FAILED":
    case "CONTEXT_PROBLEM_DOCUMENT_NOT_FOUND":
      return "document";
    case "CONTEXT_PROBLEM_UNSPECIFIED":
    case "CONTEXT_PROBLEM_CONTEXT_UNCLEAR":
      return undefined;
  }
}
