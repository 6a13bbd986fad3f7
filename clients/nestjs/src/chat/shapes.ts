import { z } from "zod";
import { OnDisconnect, TextRelease } from "@proviso/client/stubs/chat";
import { Rating, RatingReason } from "@proviso/client/stubs/sessions";
import { WhoAsks, int32 } from "../http/shapes.js";

export const MatterContext = z.strictObject({
  matter_id: z.string().optional(),
  matter_name: z.string().optional(),
  document_id: z.string().optional(),
  document_name: z.string().optional(),
});

export const DocumentContext = z.strictObject({
  filename: z.string().describe('As in "script.py".'),
  type: z.string().describe('As in "py".'),
  summary: z.string(),
});

const LeaveOut = z.strictObject({
  tool_output: z.boolean().optional(),
  repeated_contexts: z.boolean().optional(),
  history: z.boolean().optional(),
  told: z.boolean().optional(),
  context_items: z.boolean().optional(),
});

const ChatOptions = z.strictObject({
  model: z.string().optional(),
  max_turns: int32.optional(),
  max_tool_calls: int32.optional(),
  max_context_chars: int32.optional(),
  disable_cache: z.boolean().optional(),
  text_release: z.enum(TextRelease).optional(),
  disable_tools: z.boolean().optional(),
  leave_out: LeaveOut.optional().describe("What of the events is not sent."),
});

/** A message and what it comes with. */
export const Message = z.strictObject({
  message: z.string(),
  user_id: z.string().optional(),
  image_urls: z.array(z.string()).optional().describe("Left out: those of the session's project metadata."),
  document_context: z.array(DocumentContext).optional().describe("Left out: those of the session's project metadata."),
  matter_context: MatterContext.optional(),
  selected_assets: z.array(z.string()).optional(),
});

export const ChatBody = z.strictObject({
  ...Message.shape,
  session_id: z.string().optional(),
  request_id: z
    .string()
    .regex(/^[\x21-\x7e]*$/, "Letters, digits and signs of ASCII only: it is told in a header.")
    .optional()
    .describe("Makes a retry safe, and resumes with Last-Event-ID."),
  on_disconnect: z.enum(OnDisconnect).optional(),
  options: ChatOptions.optional(),
});

export const EventsQuery = WhoAsks.extend({
  leave_out: z
    .string()
    .transform((names) => names.split(","))
    .pipe(z.array(LeaveOut.keyof()))
    .optional()
    .describe(`What of the events is not sent: names of \`options.leave_out\`, with commas between.`),
});

export const DecisionBody = z.strictObject({
  decision: z.enum(["APPROVE_ONCE", "APPROVE_FOR_SESSION", "DENY"]),
  user_id: z.string().optional(),
});

export const RatingBody = z.strictObject({
  rating: z.enum(Rating),
  reason: z.enum(RatingReason).optional(),
  text: z.string().optional(),
  user_id: z.string().optional(),
});

export type Message = z.infer<typeof Message>;
export type ChatBody = z.infer<typeof ChatBody>;
export type EventsQuery = z.infer<typeof EventsQuery>;
export type DecisionBody = z.infer<typeof DecisionBody>;
export type RatingBody = z.infer<typeof RatingBody>;
