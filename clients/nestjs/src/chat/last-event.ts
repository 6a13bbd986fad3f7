import { createParamDecorator } from "@nestjs/common";
import type { ExecutionContext } from "@nestjs/common";
import type { Request } from "express";
import { Refusal } from "../http/refusal.js";

const HEADER = "last-event-id";

/** The sequence that the browser has last: the header that EventSource sends, else `after` of the query; 0 for none. */
export const LastEvent = createParamDecorator((_: unknown, context: ExecutionContext): number => {
  const request = context.switchToHttp().getRequest<Request>();
  const header = request.get(HEADER);
  return header === undefined ? sequenceIn("after", request.query.after ?? "0") : sequenceIn(HEADER, header);
});

function sequenceIn(field: string, text: unknown): number {
  const sequence = typeof text === "string" && /^\d{1,10}$/.test(text) ? Number(text) : NaN;
  if (sequence <= 2_147_483_647) return sequence;
  throw Refusal.ofField(field, "This must be the id of an event, a whole number.");
}
