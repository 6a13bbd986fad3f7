const NAMES = [
  "OK",
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
  "UNAUTHENTICATED",
] as const;

/** A gRPC status by name. */
export type StatusName = (typeof NAMES)[number];

/** The name of a status; UNKNOWN for a number that gRPC does not define. */
export function statusName(code: number): StatusName {
  return NAMES[code] ?? "UNKNOWN";
}

/** The number of a status. */
export function statusCode(name: StatusName): number {
  return NAMES.indexOf(name);
}
