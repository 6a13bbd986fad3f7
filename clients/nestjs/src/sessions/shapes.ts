import { z } from "zod";
import { ContextItemType } from "@proviso/client/stubs/context";
import { Message } from "../chat/shapes.js";
import { Page, WhoAsks, requestId } from "../http/shapes.js";

export const PageOfUser = z.object({ ...Page.shape, ...WhoAsks.shape });

export const SessionBody = z.strictObject({
  session_id: z.string().optional(),
  user_id: z.string().optional(),
  request_id: requestId,
});

export const ContinueBody = z.strictObject({
  new_session_id: z.string().optional(),
  user_id: z.string().optional(),
  request_id: requestId,
});

/** What is left out stays as it is. */
export const SessionChanges = z.strictObject({
  title: z.string().optional(),
  notes: z.string().optional(),
  user_id: z.string().optional(),
});

const Item = {
  type: z.enum(ContextItemType),
  name: z.string(),
  server_name: z.string().optional(),
};

export const ItemBody = z.strictObject({ ...Item, user_id: z.string().optional() });

export const ItemQuery = z.object({ ...Item, ...WhoAsks.shape });

/** A message that is not sent; what only a turn needs is taken and not used. */
export const PreviewBody = z.object(Message.shape);

export type PageOfUser = z.infer<typeof PageOfUser>;
export type SessionBody = z.infer<typeof SessionBody>;
export type ContinueBody = z.infer<typeof ContinueBody>;
export type SessionChanges = z.infer<typeof SessionChanges>;
export type ItemBody = z.infer<typeof ItemBody>;
export type ItemQuery = z.infer<typeof ItemQuery>;
export type PreviewBody = z.infer<typeof PreviewBody>;
