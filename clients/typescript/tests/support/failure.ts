import { expect } from "vitest";
import { ProvisoError } from "../../src/index.js";

/** What the call fails with; it has to. */
export async function failure(asked: Promise<unknown>): Promise<ProvisoError> {
  const error: unknown = await asked.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(ProvisoError);
  return error as ProvisoError;
}
