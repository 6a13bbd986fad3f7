import type { FieldViolation } from "@proviso/client";

/** What the gateway itself refuses, before any call. */
export class Refusal extends Error {
  override readonly name = "Refusal";

  constructor(
    readonly status: number,
    message: string,
    readonly violations: readonly FieldViolation[] = [],
  ) {
    super(message);
  }

  /** A request with a field or header that is not of the right shape. */
  static ofField(field: string, description: string): Refusal {
    return new Refusal(400, "The request is not valid.", [{ field, description }]);
  }
}
