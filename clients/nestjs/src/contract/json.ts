import { plain } from "@proviso/client";

/** JSON as the gateway gives it. */
export type Json = Record<string, unknown>;

type CamelName<K> = K extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelName<Tail>>}` : K;

/** A body with the contract's names in TypeScript. */
export type Camel<T> = T extends (infer Item)[]
  ? Camel<Item>[]
  : T extends object
    ? { [K in keyof T as CamelName<K>]: Camel<T[K]> }
    : T;

/** A message of the contract as JSON: snake_case, times ISO 8601, durations milliseconds, absent fields left out. */
export function toJson(message: object): Json {
  return plainToJson(plain(message));
}

/** What the client's package has made plain already, as events of turns, as JSON. */
export function plainToJson(message: object): Json {
  return renamed(message, snakeName) as Json;
}

/** A body as the contract's stubs take it. */
export function toContract<T extends object>(body: T): Camel<T> {
  return renamed(body, camelName) as Camel<T>;
}

function renamed(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => renamed(item, rename));
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [rename(name), renamed(field, rename)]));
}

function snakeName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function camelName(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
