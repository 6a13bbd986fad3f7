/** Names of the contract's fields of type google.protobuf.Timestamp. */
const TIMES = new Set<string>([
  "completeTime",
  "createTime",
  "emitTime",
  "endTime",
  "expireTime",
  "rateTime",
  "requestTime",
  "resetTime",
  "startTime",
  "stateTime",
  "time",
  "timestamp",
  "updateTime",
  "uploadTime",
] satisfies TimeField[]);

/** Names of its fields of type google.protobuf.Duration, and what they are called in milliseconds. */
const DURATIONS = {
  duration: "durationMs",
  retryAfter: "retryAfterMs",
} as const satisfies Record<DurationField, string>;

type TimeField =
  | "completeTime"
  | "createTime"
  | "emitTime"
  | "endTime"
  | "expireTime"
  | "rateTime"
  | "requestTime"
  | "resetTime"
  | "startTime"
  | "stateTime"
  | "time"
  | "timestamp"
  | "updateTime"
  | "uploadTime";
type DurationField = "duration" | "retryAfter";

/** A time or duration as the loader gives it: int64 as a string. */
export interface Seconds {
  seconds: string;
  nanos: number;
}

type PlainValue<K, V> = K extends TimeField
  ? Date | Exclude<V, Seconds>
  : K extends DurationField
    ? number | Exclude<V, Seconds>
    : Plain<V>;

type PlainName<K> = K extends DurationField ? (typeof DURATIONS)[K] : K;

/** A message without protobuf's types: times are Date, durations numbers of milliseconds (`durationMs`). */
export type Plain<T> = T extends Uint8Array
  ? T
  : T extends (infer Item)[]
    ? Plain<Item>[]
    : T extends object
      ? { [K in keyof T as PlainName<K>]: PlainValue<K, T[K]> }
      : T;

/**
 * The message with times as Date, durations as milliseconds, and fields that are absent left out (the loader gives null
 * for them). Takes what the NestJS client or @grpc/proto-loader returned.
 */
export function plain<T extends object>(message: T): Plain<T> {
  const entries = Object.entries(message).filter(([name, value]) => value != null && !name.startsWith("_"));
  return Object.fromEntries(entries.map(([name, value]) => plainField(name, value))) as Plain<T>;
}

/** The time, to the millisecond. */
export function toDate(time: Seconds): Date {
  return new Date(toMilliseconds(time));
}

/** The duration in milliseconds, with what is below one as a fraction. */
export function toMilliseconds(duration: Seconds): number {
  return Number(duration.seconds) * 1000 + duration.nanos / 1e6;
}

function plainField(name: string, value: unknown): [string, unknown] {
  if (TIMES.has(name)) return [name, toDate(value as Seconds)];
  if (Object.hasOwn(DURATIONS, name)) return [DURATIONS[name as DurationField], toMilliseconds(value as Seconds)];
  return [name, plainValue(value)];
}

function plainValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainValue);
  return typeof value === "object" && value !== null && !(value instanceof Uint8Array) ? plain(value) : value;
}
