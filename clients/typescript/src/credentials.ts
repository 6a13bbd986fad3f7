import { readFileSync } from "node:fs";
import { InterceptingCall, Metadata, credentials as grpc, status } from "@grpc/grpc-js";
import type { CallCredentials, ChannelCredentials, Interceptor } from "@grpc/grpc-js";

/** A token that can be used for some time from now on. */
export interface AccessToken {
  token: string;
  expiresInMs: number;
}

/** A token, or a function that gives one: it is asked before every call, unless it gave an AccessToken that still lasts. */
export type TokenSource = string | (() => string | AccessToken | Promise<string | AccessToken>);

/** A PEM file by its path, or its content. */
export type Pem = string | Buffer;

/** What a client proves its identity with. */
export interface Credentials {
  /** Sent with every call: an API key or a JSON Web Token. */
  token?: TokenSource;
  /** Authorities of the service's certificate; those of this machine when absent. */
  rootCa?: Pem;
  /** The certificate that the client shows, and its private key. */
  certificate?: Pem;
  key?: Pem;
}

const EARLY_MS = 30_000;

/**
 * `credentials` of `grpcOptions`: TLS, and the token with every call. A channel without them sends no token, because
 * anybody on the way could read it.
 */
export function tlsCredentials(credentials: Credentials = {}): ChannelCredentials {
  const { token, rootCa, certificate, key } = credentials;
  if ((certificate === undefined) !== (key === undefined)) {
    throw new Error("a client certificate needs both certificate and key");
  }
  const channel = grpc.createSsl(content(rootCa), content(key), content(certificate));
  return token === undefined ? channel : grpc.combineChannelCredentials(channel, tokenCredentials(token));
}

/** The token of each call, for a channel over TLS; grpc-js refuses to send it over another. */
export function tokenCredentials(source: TokenSource): CallCredentials {
  const tokens = new Tokens(source);
  return grpc.createFromMetadataGenerator((_, done) => {
    tokens.current().then(
      (token) => {
        done(null, authorization(token));
      },
      (error: unknown) => {
        done(error instanceof Error ? error : new Error(String(error)));
      },
    );
  });
}

/**
 * An interceptor that sends the token to a service on this machine, which is reached without TLS. Throws for any other
 * address.
 */
export function loopbackToken(url: string, token: string): Interceptor {
  if (!isLoopback(url)) throw new Error(`${url} is not on this machine: a token goes there over TLS only`);
  return (options, nextCall) =>
    new InterceptingCall(nextCall(options), {
      start: (metadata, listener, next) => {
        metadata.set("authorization", `Bearer ${token}`);
        next(metadata, listener);
      },
    });
}

/** Metadata that names the user for whom a call acts; the credential needs the role `act_for_users`. */
export function userMetadata(userId: string, metadata = new Metadata()): Metadata {
  const named = metadata.clone();
  if (userId !== "") named.set("x-user-id", userId);
  return named;
}
