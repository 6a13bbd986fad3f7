import { randomUUID } from "node:crypto";
import type { NextFunction, Request, RequestHandler, Response } from "express";
import { isLoopback } from "../settings.js";
import type { Settings } from "../settings.js";
import { Refusal } from "./refusal.js";

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];
const REQUEST_ID = "x-request-id";

const HEADERS = {
  // What is answered is a matter's; static files say otherwise.
  "Cache-Control": "no-store",
  "Content-Security-Policy": contentPolicy(),
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

/** The policy of what the gateway serves, with what a page needs beyond it. */
export function contentPolicy(...more: string[]): string {
  const usual = ["default-src 'self'", "object-src 'none'", "base-uri 'none'"];
  return [...usual, "form-action 'self'", "frame-ancestors 'none'", ...more].join("; ");
}

/** Headers that keep the page to its own origin. */
export function securityHeaders(_request: Request, response: Response, next: NextFunction): void {
  response.set(HEADERS);
  next();
}

/** Gives every request an id, the caller's where it has one that can be passed on, and tells it in the response. */
export function requestIds(request: Request, response: Response, next: NextFunction): void {
  const sent = request.get(REQUEST_ID) ?? "";
  const id = /^[\w.:-]{1,64}$/.test(sent) ? sent : randomUUID();
  request.headers[REQUEST_ID] = id;
  response.set("X-Request-Id", id);
  next();
}

/**
 * Refuses hosts that the gateway does not go by. Bound to loopback it goes by loopback's names, so that no other site's
 * name can be pointed at it (DNS rebinding); elsewhere by all names, where none are configured.
 */
export function hosts({ host, allowedHosts, signIn }: Settings): RequestHandler {
  const loopback = isLoopback(host);
  const named = [...allowedHosts, ...(signIn ? [signIn.publicUrl.hostname] : [])].map((name) => name.toLowerCase());
  const allowed = new Set([...named, ...(loopback ? LOOPBACK : [])]);
  return (request, _response, next) => {
    const name = (request.headers.host ?? "").replace(/:\d+$/, "").toLowerCase();
    const known = allowed.has(name) || (!loopback && allowedHosts.length === 0);
    next(known ? undefined : new Refusal(403, "The gateway does not go by this host name."));
  };
}

/** Refuses what pages of other sites send, and lets those of the allowed origins read the answers. */
export function origins({ allowedOrigins }: Settings): RequestHandler {
  return (request, response, next) => {
    const origin = request.get("origin");
    if (origin === undefined || isOwn(origin, request.headers.host)) {
      next();
      return;
    }
    if (!allowedOrigins.includes(origin)) {
      next(new Refusal(403, "Pages of this origin may not call the gateway."));
      return;
    }
    response
      .vary("Origin")
      .set({ "Access-Control-Allow-Origin": origin, "Cross-Origin-Resource-Policy": "cross-origin" });
    if (request.method === "OPTIONS") {
      allow(response);
      return;
    }
    response.set("Access-Control-Expose-Headers", EXPOSED);
    next();
  };
}

const EXPOSED = "Proviso-Turn-Id, Proviso-Request-Id, Retry-After, X-Request-Id";

function allow(response: Response): void {
  response.set({
    "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
    "Access-Control-Allow-Headers": "Authorization, Content-Type, Last-Event-ID, X-Request-Id",
    "Access-Control-Max-Age": "600",
  });
  response.status(204).end();
}

function isOwn(origin: string, host: string | undefined): boolean {
  return host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
}
