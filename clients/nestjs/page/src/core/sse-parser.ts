/** One event of an event stream; `id` is the last one seen, empty when none was. */
export interface ServerEvent {
  id: string;
  event: string;
  data: string;
}

/**
 * Parses an event stream (WHATWG HTML, "Server-sent events") from pieces cut anywhere. Lines end in LF, CR or CRLF;
 * comments and fields that it does not know are passed over, and an event without data is none.
 */
export class SseParser {
  private rest = "";
  private id = "";
  private event = "";
  private data: string[] = [];
  private begun = false;

  /** The events that the piece completes. */
  push(piece: string): ServerEvent[] {
    const text = this.rest + (this.begun ? piece : piece.replace(/^\uFEFF/, ""));
    this.begun ||= piece !== "";
    // A CR at the end may be half of a CRLF: it waits for what follows.
    const lines = text.split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? "";
    return lines.flatMap((line) => this.line(line) ?? []);
  }

  private line(line: string): ServerEvent | undefined {
    if (line === "") return this.dispatch();
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") this.data.push(value);
    else if (field === "event") this.event = value;
    else if (field === "id" && !value.includes("\0")) this.id = value;
    return undefined;
  }

  private dispatch(): ServerEvent | undefined {
    const { id, event, data } = this;
    this.event = "";
    this.data = [];
    return data.length > 0 ? { id, event: event || "message", data: data.join("\n") } : undefined;
  }
}
