import { readFileSync } from "node:fs";
import { Metadata, credentials as grpc } from "@grpc/grpc-js";
import type { ChannelCredentials } from "@grpc/grpc-js";
import { catchError, defer, tap, throwError } from "rxjs";
import type { MonoTypeOperatorFunction } from "rxjs";
import { ProvisoError } from "./errors.js";

/** A token that can be used for some time from now on. */
export interface AccessToken {
  token: string;
  expiresInMs: number;
}

/** A token, or a function that gives one. */
export type TokenSource = string | (() => string | AccessToken | Promise<string | AccessToken>);

/** A PEM file by its path, or its content. */
export type Pem = string | Buffer;

/** What a client proves its identity with. */
export interface TlsOptions {
  /** Sent with every call. */
  tokens?: Tokens;
  /** Authorities of the service's certificate; those of Node when absent. */
  rootCa?: Pem;
  /** The certificate that the client shows, and its private key. */
  certificate?: Pem;
  key?: Pem;
}

/** A token is replaced so long before its end: the service's clock may be ahead. */
const EARLY_MS = 30_000;

/**
 * The token of the moment: an API key or a JSON Web Token. A function is asked before every call, unless it gave an
 * AccessToken that still lasts; calls that come meanwhile wait for the same answer.
 */
export class Tokens {
  readonly #source: TokenSource;
  #kept: { token: string; end: number } | undefined;
  #asked: Promise<string> | undefined;

  constructor(source: TokenSource) {
    this.#source = source;
  }

  async current(): Promise<string> {
    if (typeof this.#source === "string") return this.#source;
    if (this.#kept && Date.now() < this.#kept.end) return this.#kept.token;
    this.#asked ??= this.ask(this.#source).finally(() => {
      this.#asked = undefined;
    });
    return this.#asked;
  }

  /** Forgets a token that was refused; says whether there can be another. */
  renew(): boolean {
    this.#kept = undefined;
    return typeof this.#source !== "string";
  }

  private async ask(source: Exclude<TokenSource, string>): Promise<string> {
    const given = await source();
    if (typeof given === "string") return given;
    const lastsMs = given.expiresInMs - Math.min(EARLY_MS, given.expiresInMs / 2);
    this.#kept = { token: given.token, end: Date.now() + lastsMs };
    return given.token;
  }
}

/**
 * `credentials` of `grpcOptions`: TLS, with the token in every call. There is no such thing without TLS, where anybody on
 * the way could read the token; grpc-js refuses that too.
 */
export function tlsCredentials(options: TlsOptions = {}): ChannelCredentials {
  const { tokens, rootCa, certificate, key } = options;
  if ((certificate === undefined) !== (key === undefined)) {
    throw new Error("A client certificate needs both certificate and key");
  }
  const channel = grpc.createSsl(content(rootCa), content(key), content(certificate));
  if (tokens === undefined) return channel;
  const perCall = grpc.createFromMetadataGenerator((_, done) => {
    tokens.current().then(
      (token) => {
        const metadata = new Metadata();
        metadata.set("authorization", `Bearer ${token}`);
        done(null, metadata);
      },
      (error: unknown) => {
        done(error instanceof Error ? error : new Error(String(error)));
      },
    );
  });
  return grpc.combineChannelCredentials(channel, perCall);
}

/** Metadata that names the user for whom a call acts; the credential needs the role `act_for_users`. */
export function userMetadata(userId: string): Metadata {
  const metadata = new Metadata();
  if (userId !== "") metadata.set("x-user-id", userId);
  return metadata;
}

/**
 * Repeats a call once with a new token where the service refused the first one: `search(...).pipe(renewing(tokens))`. What
 * has given an answer already is not repeated.
 */
export function renewing<T>(tokens: Tokens): MonoTypeOperatorFunction<T> {
  return (call) =>
    defer(() => {
      let begun = false;
      return call.pipe(
        tap(() => {
          begun = true;
        }),
        catchError((error: unknown) => {
          const refused = ProvisoError.from(error).status === "UNAUTHENTICATED";
          return refused && !begun && tokens.renew() ? call : throwError(() => error);
        }),
      );
    });
}

function content(pem: Pem | undefined): Buffer | null {
  if (pem === undefined) return null;
  return typeof pem === "string" ? readFileSync(pem) : pem;
}
