/** Calls of the gateway: JSON in and out, failures as `ApiError`, every call with a time limit. */

/** A problem as the gateway tells it (RFC 9457), with the contract's reason. */
export interface Problem {
  title: string;
  status: number;
  detail?: string;
  reason?: string;
  violations?: { field: string; description: string }[];
  retry_after_ms?: number;
  metadata?: Record<string, string>;
}

/** An event of the window: a call was refused because nobody is signed in. */
export const SIGNED_OUT = "proviso-signed-out";

/** A call that failed; `message` is for a person. Status 0: the gateway was not reached. */
export class ApiError extends Error {
  constructor(readonly problem: Problem) {
    super(words(problem));
    this.name = "ApiError";
    if (problem.status === 401) window.dispatchEvent(new Event(SIGNED_OUT));
  }

  get status(): number {
    return this.problem.status;
  }

  get reason(): string | undefined {
    return this.problem.reason;
  }

  /** Anything thrown as an ApiError; a failed fetch is one of status 0. */
  static from(error: unknown): ApiError {
    if (error instanceof ApiError) return error;
    const late = error instanceof DOMException && error.name === "TimeoutError";
    return new ApiError({ title: late ? TOO_LATE : UNREACHED, status: 0 });
  }

  /** The error of a response that is not ok. */
  static async of(response: Response): Promise<ApiError> {
    const body: unknown = await response.json().catch(() => undefined);
    const title = response.statusText || `The gateway answered ${response.status}`;
    return new ApiError({ title, ...(isRecord(body) ? body : {}), status: response.status });
  }
}

const UNREACHED = "The service cannot be reached. Check the connection and try again.";
const TOO_LATE = "The service did not answer in time. Try again.";

/** How a call is made. `timeout_ms` is 30 s when absent. */
export interface CallOptions {
  query?: Record<string, string | number | undefined>;
  signal?: AbortSignal;
  timeout_ms?: number;
}

export const api = {
  get: <T>(path: string, options?: CallOptions) => call<T>("GET", path, undefined, options),
  post: <T>(path: string, body?: unknown, options?: CallOptions) => call<T>("POST", path, body, options),
  put: <T>(path: string, body: unknown, options?: CallOptions) => call<T>("PUT", path, body, options),
  patch: <T>(path: string, body: unknown, options?: CallOptions) => call<T>("PATCH", path, body, options),
  delete: <T = undefined>(path: string, options?: CallOptions) => call<T>("DELETE", path, undefined, options),
};

/** A path of the gateway from its segments, each escaped: `pathOf("matters", id)`. */
export function pathOf(...segments: string[]): string {
  return `/${segments.map(encodeURIComponent).join("/")}`;
}

/** The path with the query's defined parameters. */
export function withQuery(path: string, query: CallOptions["query"] = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text ? `${path}?${text}` : path;
}

/** Every item of a paged list, at most `most`. */
export async function allPages<T>(
  page: (token: string) => Promise<{ items: T[]; next_page_token: string }>,
  most = 1000,
): Promise<T[]> {
  const items: T[] = [];
  let token = "";
  do {
    const answer = await page(token);
    items.push(...answer.items);
    token = answer.next_page_token;
  } while (token && items.length < most);
  return items;
}

async function call<T>(method: string, path: string, body: unknown, options: CallOptions = {}): Promise<T> {
  const limit = AbortSignal.timeout(options.timeout_ms ?? 30_000);
  const init: RequestInit = { method, signal: options.signal ? AbortSignal.any([options.signal, limit]) : limit };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { "Content-Type": "application/json" };
  }
  try {
    const response = await fetch(withQuery(path, options.query), init);
    if (!response.ok) throw await ApiError.of(response);
    return (response.status === 204 ? undefined : await response.json()) as T;
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw ApiError.from(error);
  }
}

function words(problem: Problem): string {
  const violations = (problem.violations ?? []).map((violation) => violation.description);
  return problem.detail ?? (violations.length > 0 ? violations.join(" ") : problem.title);
}

function isRecord(value: unknown): value is Partial<Problem> {
  return typeof value === "object" && value !== null;
}
