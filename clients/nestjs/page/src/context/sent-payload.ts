/** The payload of a model call, as `payload_json` holds it. */
export interface Payload {
  system: string;
  messages: { role: string; content: unknown }[];
  tools: { name: string; description: string }[];
}

/** The payload; undefined where it is none that can be shown in parts. */
export function readPayload(json: string): Payload | undefined {
  try {
    const read = JSON.parse(json) as Partial<Payload> | null;
    if (typeof read?.system !== "string" || !Array.isArray(read.messages)) return undefined;
    return { system: read.system, messages: read.messages, tools: read.tools ?? [] };
  } catch {
    return undefined;
  }
}

/** A message's words; what is not text as JSON. */
export function contentWords(content: unknown): string {
  return typeof content === "string" ? content : JSON.stringify(content, undefined, 2);
}

/** JSON with indents; what is no JSON as it is. */
export function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), undefined, 2);
  } catch {
    return json;
  }
}
