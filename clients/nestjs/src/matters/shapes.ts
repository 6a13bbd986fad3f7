import { z } from "zod";
import { Page, int32, queryInt, requestId } from "../http/shapes.js";

export const MattersQuery = z.object({ ...Page.shape, name: z.string().optional() });

export const MatterBody = z.strictObject({
  name: z.string(),
  user_id: z.string().optional(),
  request_id: requestId,
});

const ROLES = ["MATTER_ROLE_READER", "MATTER_ROLE_EDITOR", "MATTER_ROLE_OWNER"] as const;

export const MemberBody = z.strictObject({ role: z.enum(ROLES) });

/** What is left out stays as it is. */
export const MatterChanges = z.strictObject({ name: z.string().optional(), notes: z.string().optional() });

export const TextQuery = z
  .object({
    start: queryInt.optional().describe("In code points."),
    page: queryInt.optional(),
    heading: z.string().optional().describe("A section's title or number."),
    max_chars: queryInt.optional().describe("In code points."),
  })
  .refine((query) => [query.start, query.page, query.heading].filter((part) => part !== undefined).length < 2, {
    error: "Only one of start, page and heading can be given.",
  });

export const PageQuery = z.object({
  start: queryInt.optional().describe("Only words from here on, in code points of the document's text."),
  end: queryInt.optional().describe("Only words before this position, in code points."),
});

const documentIds = z.array(z.string()).optional();

export const SearchBody = z.strictObject({
  query: z.string(),
  page_size: int32.optional(),
  page_token: z.string().optional(),
  min_score: z.number().optional(),
  semantic_weight: z.number().optional(),
  include_context: z.boolean().optional(),
  document_ids: documentIds,
});

export const ExtractBody = z.strictObject({
  question: z.string(),
  document_ids: documentIds,
  min_score: z.number().optional(),
  max_alternatives: int32.optional(),
  each_document: z.boolean().optional(),
});

export const ClassifyBody = z.strictObject({
  clause_types: z.array(z.string()).optional(),
  document_ids: documentIds,
  min_score: z.number().optional(),
  page_size: int32.optional(),
  page_token: z.string().optional(),
});

export type MattersQuery = z.infer<typeof MattersQuery>;
export type MatterBody = z.infer<typeof MatterBody>;
export type MemberBody = z.infer<typeof MemberBody>;
export type MatterChanges = z.infer<typeof MatterChanges>;
export type TextQuery = z.infer<typeof TextQuery>;
export type PageQuery = z.infer<typeof PageQuery>;
export type SearchBody = z.infer<typeof SearchBody>;
export type ExtractBody = z.infer<typeof ExtractBody>;
export type ClassifyBody = z.infer<typeof ClassifyBody>;
