import { vi } from "vitest";
import type { TurnEvent } from "../../src/core/contract.js";

/** A call that the page made. */
export interface Call {
  /** As "GET /matters": without the query. */
  route: string;
  query: Record<string, string>;
  body: unknown;
}

/**
 * A gateway that answers these routes, as "GET /matters", with JSON, or with what a function makes, and all others with
 * 404; in the place of `fetch` until `vi.unstubAllGlobals`. Answers with the calls that are made.
 */
export function gatewayWith(answers: Record<string, unknown>): Call[] {
  const calls: Call[] = [];
  vi.stubGlobal("fetch", (path: string, { method = "GET", body }: RequestInit = {}) => {
    const url = new URL(path, "http://gateway");
    const route = `${method} ${url.pathname}`;
    calls.push({
      route,
      query: Object.fromEntries(url.searchParams),
      body: typeof body === "string" ? (JSON.parse(body) as unknown) : undefined,
    });
    const answer = answers[route];
    if (typeof answer === "function") return Promise.resolve((answer as () => Response)());
    const isKnown = route in answers;
    return Promise.resolve(Response.json(isKnown ? answer : { title: "Not found" }, { status: isKnown ? 200 : 404 }));
  });
  return calls;
}

/** A stream of these events, as `POST /chat` answers. */
export function streamOf(events: readonly TurnEvent[]): Response {
  const body = events.map(
    ({ kind, data }) => `id: ${data.sequence}\nevent: ${kind}\ndata: ${JSON.stringify(data)}\n\n`,
  );
  return new Response(body.join(""), { headers: { "Content-Type": "text/event-stream" } });
}

/** A refusal, as the gateway tells it. */
export function problemOf(status: number, title: string): Response {
  return Response.json({ title, status }, { status });
}
