/** An event as a browser hears it. */
export interface Heard {
  id?: number;
  event: string;
  data: Record<string, unknown>;
}

type Init = Omit<RequestInit, "headers"> & { headers?: Record<string, string> };

/** What the tests call the gateway with, as a page does. */
export class Browser {
  constructor(private readonly url: string) {}

  fetch(method: string, path: string, body?: unknown, init: Init = {}): Promise<Response> {
    const headers = { ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...init.headers };
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    return fetch(`${this.url}${path}`, { ...init, ...content, method, headers });
  }

  /** The JSON of an answer that must be a success. */
  async json<T = Record<string, never>>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await this.fetch(method, path, body);
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }

  /** All events of a stream. */
  async events(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Heard[]> {
    return all(eventsOf(await this.fetch(method, path, body, { headers })));
  }

  async upload(matterId: string, content: Buffer | string, filename: string): Promise<Response> {
    const form = new FormData();
    form.append("file", new Blob([new Uint8Array(Buffer.from(content))]), filename);
    return fetch(`${this.url}/matters/${matterId}/documents`, { method: "POST", body: form });
  }
}

/** All events that there are. */
export async function all(events: AsyncIterable<Heard>): Promise<Heard[]> {
  const heard: Heard[] = [];
  for await (const event of events) heard.push(event);
  return heard;
}

/**
 * The events of a response. With `bytes`, the connection is cut after so many of them: an event that has not come whole by
 * then is none.
 */
export async function* eventsOf(response: Response, bytes = Infinity): AsyncGenerator<Heard> {
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  const decoder = new TextDecoder();
  let left = bytes;
  let text = "";
  for await (const piece of response.body ?? []) {
    const data = piece as Uint8Array;
    text += decoder.decode(data.subarray(0, left), { stream: true });
    left -= data.length;
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) if (!block.startsWith(":")) yield heard(block);
    if (left <= 0) return;
  }
}

function heard(block: string): Heard {
  const fields = new Map(block.split("\n").map((line) => line.split(/: (.*)/s, 2) as [string, string]));
  const id = fields.get("id");
  const data = JSON.parse(fields.get("data") ?? "{}") as Record<string, unknown>;
  return { event: fields.get("event") ?? "message", data, ...(id !== undefined && { id: Number(id) }) };
}

/** The id of a stream's last event, as a browser sends it when it comes back. */
export function lastEventId(events: readonly Heard[]): Record<string, string> {
  const last = events.at(-1)?.id;
  return last === undefined ? {} : { "Last-Event-ID": String(last) };
}
