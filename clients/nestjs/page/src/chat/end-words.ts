import type { ContextProblem, ExitReason, FinalState } from "../core/contract.js";

/** A line under an answer that did not end as usual; its message says the rest. */
const WORDS: Partial<Record<ExitReason, string>> = {
  EXIT_REASON_MAX_TURNS_REACHED: "Stopped at the limit of steps.",
  EXIT_REASON_MAX_TOOL_CALLS_REACHED: "Answered at the limit of tool calls, with what was found until then.",
  EXIT_REASON_MAX_CONTEXT_REACHED: "This conversation is full. Begin a new one to go on.",
  EXIT_REASON_EMPTY_INPUT: "Nothing was asked.",
  EXIT_REASON_RATE_LIMITED: "The language model is busy.",
  EXIT_REASON_LLM_ERROR: "The language model failed.",
  EXIT_REASON_LLM_GENERATION_FAILURE: "No answer could be grounded in the documents.",
  EXIT_REASON_INVALID_TOOL_CALL: "The language model asked for something that it cannot do.",
  EXIT_REASON_CANCELLED: "Stopped.",
  EXIT_REASON_DEADLINE_EXCEEDED: "Stopped at the time limit.",
  EXIT_REASON_INTERNAL_ERROR: "Something went wrong in the service.",
};

/** Why the turn ended, in a line; empty for a usual answer. */
export function endWords({ exit_reason: reason }: FinalState): string {
  return WORDS[reason] ?? "";
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
      return undefined;
  }
}
