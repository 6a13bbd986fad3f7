import type { ToolCall } from "./turn-view.js";

/** What a call is for, in words: while it runs, and once it has ended. */
const PURPOSES: Record<string, { running: string; ended: string; subject?: string[] }> = {
  isaacus_search: { running: "Searching the documents for", ended: "Searched the documents for", subject: ["query"] },
  isaacus_extract: { running: "Looking for the answer to", ended: "Looked for the answer to", subject: ["question"] },
  isaacus_iql: { running: "Querying the documents with", ended: "Queried the documents with", subject: ["query"] },
  isaacus_classify: {
    running: "Sorting the clauses by type",
    ended: "Sorted the clauses by type",
    subject: ["clause_types"],
  },
  get_document_text: {
    running: "Reading",
    ended: "Read",
    subject: ["filename", "heading", "document_id"],
  },
  list_matter_documents: { running: "Listing the matter’s documents", ended: "Listed the matter’s documents" },
  retriever: {
    running: "Searching the documentation for",
    ended: "Searched the documentation for",
    subject: ["query"],
  },
};

/** A line about a call: what was done, and to what. The subject is empty where there is none. */
export function toolWords(call: Pick<ToolCall, "tool" | "serverName" | "inputJson" | "isRunning">): {
  doing: string;
  subject: string;
} {
  const purpose = call.serverName === "proviso" || call.serverName === "" ? PURPOSES[call.tool] : undefined;
  if (!purpose) return { doing: call.isRunning ? "Calling" : "Called", subject: toolName(call) };
  return {
    doing: call.isRunning ? purpose.running : purpose.ended,
    subject: subjectOf(call.inputJson, purpose.subject),
  };
}

/** The tool's name with its server. */
export function toolName({ tool, serverName }: { tool: string; serverName: string }): string {
  return serverName ? `${serverName}:${tool}` : tool;
}

/** The arguments as names and values; undefined where they are no JSON object. */
export function argumentsOf(json: string): [name: string, value: unknown][] | undefined {
  try {
    const parsed: unknown = JSON.parse(json);
    const isObject = typeof parsed === "object" && parsed !== null && !Array.isArray(parsed);
    return isObject ? Object.entries(parsed) : undefined;
  } catch {
    return undefined;
  }
}

/** A value in words: text as it is, the rest as JSON. */
export function valueWords(value: unknown): string {
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value.join(", ");
  return typeof value === "string" ? value : JSON.stringify(value, undefined, 2);
}

function subjectOf(inputJson: string, names: readonly string[] = []): string {
  const given = new Map(argumentsOf(inputJson));
  const value = names.map((name) => given.get(name)).find((found) => found !== undefined && found !== "");
  return value === undefined ? "" : valueWords(value);
}
