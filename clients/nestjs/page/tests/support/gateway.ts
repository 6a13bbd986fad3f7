import { vi } from "vitest";

/** A call that the page made. */
export interface Call {
  /** As "GET /matters": without the query. */
  route: string;
  query: Record<string, string>;
  body: unknown;
}

/**
 * A gateway that answers these routes, as "GET /matters", with JSON and all others with 404; in the place of `fetch`
 * until `vi.unstubAllGlobals`. Answers with the calls that are made.
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
    const isKnown = route in answers;
    return Promise.resolve(
      Response.json(isKnown ? answers[route] : { title: "Not found" }, { status: isKnown ? 200 : 404 }),
    );
  });
  return calls;
}
