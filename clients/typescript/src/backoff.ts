/** How often and how long to wait for a service that cannot be reached. */
export interface Backoff {
  /** Tries in a row without an event between them; 8 when absent. */
  maxTries?: number;
  /** Wait before the first try, in milliseconds; doubles with each; 200 when absent. */
  firstMs?: number;
  /** Longest wait, in milliseconds; 5,000 when absent. What the service asks for may be longer. */
  maxMs?: number;
}

/**
 * The wait before a try, numbered from 1, in milliseconds: between half of the doubled one and all of it, so that callers
 * who were cut off together do not come back together. Undefined when there were enough tries.
 */
export function waitBefore(
  tryNumber: number,
  { maxTries = 8, firstMs = 200, maxMs = 5_000 }: Backoff,
  random: () => number = Math.random,
): number | undefined {
  if (tryNumber > maxTries) return undefined;
  const longest = Math.min(firstMs * 2 ** (tryNumber - 1), maxMs);
  return longest * (1 + random()) * 0.5;
}
