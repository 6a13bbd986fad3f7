import type { Citation } from "../core/contract.js";
import type { CitedSource } from "../core/navigation.js";
import { toolName } from "./tool-words.js";

/** Whether a text can be opened at the cited words. */
export function isInDocument({ document_id: documentId }: Citation): boolean {
  return documentId !== "";
}

/** Where a citation leads, in words. */
export function whereabouts(citation: Citation): string {
  if (!isInDocument(citation)) return sourceName(citation);
  const { filename, heading, page } = citation;
  return [filename, heading, page > 0 ? `page ${page}` : ""].filter((part) => part !== "").join(", ");
}

/** What there is to show of a source that is no document. */
export function citedSource(citation: Citation, turnId = ""): CitedSource {
  const { quote, call_id: callId } = citation;
  const call = turnId !== "" && callId !== "" ? { call: { turnId, callId } } : {};
  return { name: sourceName(citation), kind: KINDS[citation.kind] ?? "", quote, ...call };
}

const KINDS: Partial<Record<Citation["kind"], string>> = {
  CITATION_KIND_TOOL_CALL: "Result of a tool",
  CITATION_KIND_REFERENCE: "Reference",
  CITATION_KIND_ASSET: "File or image that came with the question",
};

function sourceName({ name, server_name: serverName, filename }: Citation): string {
  if (name === "") return filename || "A source without a name";
  return serverName === "" ? name : toolName({ tool: name.replace(`${serverName}__`, ""), serverName });
}
