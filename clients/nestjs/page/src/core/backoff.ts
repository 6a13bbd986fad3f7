/** The wait before a try, in milliseconds: doubling up to 5 s, spread so that many pages do not come back at once. */
export function waitBefore(failures: number): number {
  const most = Math.min(5_000, 250 * 2 ** Math.max(0, failures - 1));
  return most / 2 + Math.random() * (most / 2);
}

/** Resolves after the time, at once when the browser is online again, and when aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      globalThis.removeEventListener("online", end);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    globalThis.addEventListener("online", end);
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
  });
}
