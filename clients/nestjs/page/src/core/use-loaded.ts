import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ApiError } from "./api.js";

/** What a part of the page shows of a call: neither is there while it is made. */
export interface Loaded<T> {
  found: T | undefined;
  failure: ApiError | undefined;
  /** Makes the call again. */
  retry: () => void;
}

/** Makes a call when the part is drawn, and again whenever one of the inputs is another. */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[]): Loaded<T> {
  const found = useSignal<T | undefined>(undefined);
  const failure = useSignal<ApiError | undefined>(undefined);
  const tries = useSignal(0);
  useEffect(() => {
    const leaving = new AbortController();
    found.value = undefined;
    failure.value = undefined;
    load(leaving.signal).then(
      (answer) => {
        if (!leaving.signal.aborted) found.value = answer;
      },
      (error: unknown) => {
        if (!leaving.signal.aborted) failure.value = ApiError.from(error);
      },
    );
    return () => {
      leaving.abort();
    };
  }, [...inputs, tries.value]);
  const retry = (): void => {
    tries.value += 1;
  };
  return { found: found.value, failure: failure.value, retry };
}
