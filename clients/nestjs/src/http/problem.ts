import { STATUS_CODES } from "node:http";
import { HttpException } from "@nestjs/common";
import { ProvisoError } from "@proviso/client";
import type { FieldViolation, IqlFault, StatusName } from "@proviso/client";
import { Refusal } from "./refusal.js";

/** A failure as RFC 9457 has it, with what the contract says of it. */
export interface Problem {
  type: "about:blank";
  title: string;
  status: number;
  detail?: string;
  reason?: string;
  violations?: readonly FieldViolation[];
  retry_after_ms?: number;
  metadata?: Readonly<Record<string, string>>;
  faults?: readonly IqlFault[];
  instance?: string;
}

/** The one map of the contract's statuses to those of HTTP. */
export const HTTP_STATUS: Readonly<Record<StatusName, number>> = {
  OK: 500,
  CANCELLED: 499,
  UNKNOWN: 500,
  INVALID_ARGUMENT: 400,
  DEADLINE_EXCEEDED: 504,
  NOT_FOUND: 404,
  ALREADY_EXISTS: 409,
  PERMISSION_DENIED: 403,
  RESOURCE_EXHAUSTED: 429,
  FAILED_PRECONDITION: 412,
  ABORTED: 409,
  OUT_OF_RANGE: 400,
  UNIMPLEMENTED: 501,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  DATA_LOSS: 500,
  UNAUTHENTICATED: 401,
};

/** Reasons of the contract that the gateway has too. */
const REASONS: Readonly<Partial<Record<number, string>>> = {
  400: "INVALID_REQUEST",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
};

/** Anything that failed, as a problem. `instance` is the path that was asked for. */
export function problemOf(error: unknown, instance: string): Problem {
  return { ...contents(error), instance };
}

function contents(error: unknown): Problem {
  if (error instanceof Refusal) return refused(error.status, error.message, error.violations);
  const status = statusIn(error);
  if (status !== undefined) return refused(status, (error as Error).message);
  return ofService(ProvisoError.from(error));
}

/** The status of what NestJS, express and their parsers throw. */
function statusIn(error: unknown): number | undefined {
  if (error instanceof HttpException) return error.getStatus();
  const { status } = (typeof error === "object" && error !== null ? error : {}) as { status?: unknown };
  return typeof status === "number" && status >= 400 && status < 500 ? status : undefined;
}

function refused(status: number, detail: string, violations: readonly FieldViolation[] = []): Problem {
  const reason = REASONS[status];
  return { ...headed(status), detail, ...(reason && { reason }), ...(violations.length > 0 && { violations }) };
}

function ofService(error: ProvisoError): Problem {
  const { reason, violations, retryAfterMs, metadata, faults } = error;
  return {
    ...headed(HTTP_STATUS[error.status]),
    detail: detailOf(error),
    ...(reason && { reason }),
    ...(violations.length > 0 && { violations }),
    ...(retryAfterMs !== undefined && { retry_after_ms: retryAfterMs }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...(faults.length > 0 && { faults }),
  };
}

/** Without a reason the words are those of a library or a proxy, which are not for the person who asks. */
function detailOf(error: ProvisoError): string {
  if (error.reason) return error.message;
  switch (error.status) {
    case "UNAVAILABLE":
      return "The service cannot be reached at the moment. Try again in a while.";
    case "DEADLINE_EXCEEDED":
      return "The service did not answer in time. Try again.";
    case "UNAUTHENTICATED":
    case "PERMISSION_DENIED":
      return error.message;
    default:
      return "The request could not be carried out. Try again, or ask the person who runs the gateway.";
  }
}

function headed(status: number): Pick<Problem, "type" | "title" | "status"> {
  return {
    type: "about:blank",
    title: status === 499 ? "Client Closed Request" : (STATUS_CODES[status] ?? "Error"),
    status,
  };
}
