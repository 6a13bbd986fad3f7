import { createParamDecorator } from "@nestjs/common";
import type { ExecutionContext } from "@nestjs/common";
import { Metadata } from "@grpc/grpc-js";
import type { Request, Response } from "express";
import { defer, fromEvent, mergeMap, of, take } from "rxjs";
import type { Observable } from "rxjs";
import { Refusal } from "../http/refusal.js";

/** What the service is told of who asks: the credential, and whom it acts for. Neither has to be there. */
export interface Identity {
  authorization: string | undefined;
  userId: string | undefined;
}

/** A request that the guard has seen. */
export interface Identified {
  identity: Identity;
}

/** Who asks, as the service is told. */
export interface Caller {
  metadata: Metadata;
  /** Fails when the browser has gone ahead of its answer. */
  gone: Observable<never>;
}

/** The caller of a request, as a parameter of its handler. */
export const From = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const http = context.switchToHttp();
  return { metadata: metadataOf(http.getRequest<Request>()), gone: goneWith(http.getResponse<Response>()) };
});

function goneWith(response: Response): Observable<never> {
  const closed = defer(() => (response.destroyed ? of(undefined) : fromEvent(response, "close")));
  return closed.pipe(
    take(1),
    mergeMap(() => {
      throw new Refusal(499, "The browser has gone.");
    }),
  );
}

function metadataOf(request: Request & Partial<Identified>): Metadata {
  if (request.identity === undefined) throw new Error("the guard has not seen this request");
  const { authorization, userId } = request.identity;
  const told = { authorization, "x-user-id": userId, "x-request-id": request.get("x-request-id") };
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(told)) {
    if (value === undefined) continue;
    if (!/^[\x20-\x7e]*$/.test(value)) throw Refusal.ofField(name, "has characters that a header cannot have");
    metadata.set(name, value);
  }
  return metadata;
}
