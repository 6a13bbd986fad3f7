import { ApiError } from "./api.js";
import { SseParser } from "./sse-parser.js";
import type { ServerEvent } from "./sse-parser.js";

/** How an event stream is asked for. */
export interface StreamRequest {
  url: string;
  method?: "GET" | "POST";
  body?: unknown;
  headers?: Record<string, string>;
}

/** Silence after which a connection counts as cut, in milliseconds: more than the gateway's comments, every 15 s. */
export const SILENCE_MS = 40_000;

/**
 * Sends the request and gives the events of its answer, once, without reconnecting. Ends with the response. Throws
 * ApiError where the answer is not a stream or the connection is cut.
 */
export async function* serverEvents(
  request: StreamRequest,
  signal: AbortSignal,
  onOpen?: (response: Response) => void,
): AsyncGenerator<ServerEvent> {
  const silence = new Silence();
  const either = AbortSignal.any([signal, silence.signal]);
  try {
    const response = await fetch(request.url, requestInit(request, either));
    if (!response.ok || !response.body) throw await ApiError.of(response);
    onOpen?.(response);
    yield* eventsOf(response.body, silence);
  } catch (error) {
    if (signal.aborted) return;
    throw ApiError.from(error);
  } finally {
    silence.end();
  }
}

async function* eventsOf(body: ReadableStream<Uint8Array<ArrayBuffer>>, silence: Silence): AsyncGenerator<ServerEvent> {
  const parser = new SseParser();
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      silence.broken();
      yield* parser.push(piece.value);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function requestInit({ method, body, headers }: StreamRequest, signal: AbortSignal): RequestInit {
  const accept = { Accept: "text/event-stream", ...headers };
  if (body === undefined) return { method: method ?? "GET", headers: accept, signal };
  return {
    method: method ?? "POST",
    headers: { ...accept, "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal,
  };
}

/** Aborts when nothing has come for a while. */
class Silence {
  private readonly controller = new AbortController();
  private timer = this.start();

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  broken(): void {
    clearTimeout(this.timer);
    this.timer = this.start();
  }

  end(): void {
    clearTimeout(this.timer);
  }

  private start(): ReturnType<typeof setTimeout> {
    return setTimeout(() => {
      this.controller.abort(new DOMException("silence", "TimeoutError"));
    }, SILENCE_MS);
  }
}
