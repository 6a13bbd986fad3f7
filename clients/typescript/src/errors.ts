import { fromBinary } from "@bufbuild/protobuf";
import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
import type { Message } from "@bufbuild/protobuf";
import { durationMs } from "@bufbuild/protobuf/wkt";
import type { Any } from "@bufbuild/protobuf/wkt";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  ResourceInfoSchema,
  RetryInfoSchema,
} from "./es/google/rpc/error_details_pb.js";
import { StatusSchema } from "./es/google/rpc/status_pb.js";
import { IqlFaultsSchema } from "./es/proviso/v1/tools_pb.js";
import type { IqlError } from "./es/proviso/v1/tools_pb.js";
import { statusName } from "./status.js";
import type { StatusName } from "./status.js";
import type { ErrorReason as ReasonOfContract } from "./stubs/proviso/v1/errors.js";

/** The machine-readable cause of a failed call: the contract's ErrorReason without its prefix, as in "TURN_EXPIRED". */
export type Reason = ReasonOfContract extends `ERROR_REASON_${infer Name}` ? Name : never;

/** What is wrong with a field of the request. */
export interface FieldViolation {
  /** The path in the request, as in "matter_context.matter_id". */
  field: string;
  /** What is wrong with it, in words. */
  description: string;
}

/** A fault of an IQL query. Positions are Unicode code points of the query; the end is exclusive. */
export interface IqlFault {
  start: number;
  end: number;
  message: string;
  /** How to correct it, in sentences. */
  suggestions: readonly string[];
  /** Changes of the query, each of which carries out the suggestion of that index. */
  edits: readonly { suggestion: number; label: string; start: number; end: number; text: string }[];
}

/** What a NOT_FOUND or ALREADY_EXISTS speaks of. */
export interface Resource {
  type: string;
  name: string;
}

interface Details {
  reason?: Reason;
  metadata?: Readonly<Record<string, string>>;
  violations?: readonly FieldViolation[];
  retryAfterMs?: number;
  resource?: Resource;
  faults?: readonly IqlFault[];
}

/** A failed call: its status and the google.rpc details that came with it. */
export class ProvisoError extends Error {
  override readonly name = "ProvisoError";
  /** The status as a number, as in 3. */
  readonly code: number;
  /** The status by name, as in "INVALID_ARGUMENT". */
  readonly status: StatusName;
  /** The cause, where the service gave one; undefined for a failure of the connection. */
  readonly reason: Reason | undefined;
  /** What the service says of the cause, as in `turn_id` for SESSION_BUSY. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Every fault of the request; empty unless the status is INVALID_ARGUMENT or FAILED_PRECONDITION. */
  readonly violations: readonly FieldViolation[];
  /** How long to wait before the call is made again; undefined where the service did not say. */
  readonly retryAfterMs: number | undefined;
  /** What was not found, or exists already. */
  readonly resource: Resource | undefined;
  /** The faults of a query; empty unless the reason is INVALID_IQL. */
  readonly faults: readonly IqlFault[];

  constructor(code: number, message: string, details: Details = {}, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.status = statusName(code);
    this.reason = details.reason;
    this.metadata = details.metadata ?? {};
    this.violations = details.violations ?? [];
    this.retryAfterMs = details.retryAfterMs;
    this.resource = details.resource;
    this.faults = details.faults ?? [];
  }

  /**
   * What a client of @grpc/grpc-js, NestJS or Connect failed with, typed. What is no failed call becomes UNKNOWN, with
   * the error as its `cause`.
   */
  static from(error: unknown): ProvisoError {
    if (error instanceof ProvisoError) return error;
    if (isOfAnotherCopy(error)) return new ProvisoError(error.code, error.message, error, { cause: error });
    const failure = (typeof error === "object" && error !== null ? error : {}) as Partial<Failure>;
    const code = typeof failure.code === "number" ? failure.code : 2;
    const message = wordsOf(failure) ?? String(error);
    return new ProvisoError(code, message, readDetails(detailsOf(failure)), { cause: error });
  }
}

/** A process may have loaded the package twice, as ES modules and as CommonJS. */
function isOfAnotherCopy(error: unknown): error is ProvisoError {
  return error instanceof Error && error.name === "ProvisoError" && "violations" in error && "code" in error;
}

/** What grpc-js's ServiceError and Connect's ConnectError have. */
interface Failure {
  code: unknown;
  message: unknown;
  /** grpc-js: the status's message. Connect: the details. */
  details: unknown;
  /** Connect: the status's message. */
  rawMessage: unknown;
  /** grpc-js: the trailing metadata. */
  metadata: { get?: (key: string) => unknown };
}

interface Detail {
  typeName: string;
  value: Uint8Array;
}

/** That of the service's own reasons; a proxy may have others. */
const DOMAIN = "proviso.v1";
const STATUS_KEY = "grpc-status-details-bin";

function wordsOf(failure: Partial<Failure>): string | undefined {
  return [failure.rawMessage, failure.details, failure.message].find((text) => typeof text === "string");
}

function detailsOf(failure: Partial<Failure>): Detail[] {
  if (Array.isArray(failure.details)) return failure.details.flatMap(connectDetail);
  const [packed] = [failure.metadata?.get?.(STATUS_KEY)].flat();
  if (!(packed instanceof Uint8Array)) return [];
  return readable(StatusSchema, packed)?.details.map(anyDetail) ?? [];
}

function connectDetail(detail: unknown): Detail[] {
  const { type, value } = detail as { type?: unknown; value?: unknown };
  return typeof type === "string" && value instanceof Uint8Array ? [{ typeName: type, value }] : [];
}

function anyDetail(detail: Any): Detail {
  return { typeName: detail.typeUrl.slice(detail.typeUrl.lastIndexOf("/") + 1), value: detail.value };
}

function readDetails(details: readonly Detail[]): Details {
  const told = find(details, ErrorInfoSchema);
  const info = told?.domain === DOMAIN ? told : undefined;
  const retry = find(details, RetryInfoSchema)?.retryDelay;
  const resource = find(details, ResourceInfoSchema);
  const violations = find(details, BadRequestSchema)?.fieldViolations ?? [];
  return {
    reason: info?.reason as Reason | undefined,
    metadata: info?.metadata,
    violations: violations.map(({ field, description }) => ({ field, description })),
    retryAfterMs: retry && durationMs(retry),
    faults: find(details, IqlFaultsSchema)?.errors.map(iqlFault),
    resource: resource && { type: resource.resourceType, name: resource.resourceName },
  };
}

function iqlFault({ start, end, message, suggestions, edits }: IqlError): IqlFault {
  const plain = edits.map(({ suggestion, label, start, end, text }) => ({ suggestion, label, start, end, text }));
  return { start, end, message, suggestions, edits: plain };
}

function find<T extends Message>(details: readonly Detail[], schema: GenMessage<T>): T | undefined {
  const found = details.find((detail) => detail.typeName === schema.typeName);
  return found && readable(schema, found.value);
}

/** A proxy may have cut the trailers: a detail that cannot be read must not hide the status. */
function readable<T extends Message>(schema: GenMessage<T>, bytes: Uint8Array): T | undefined {
  try {
    return fromBinary(schema, bytes);
  } catch {
    return undefined;
  }
}
