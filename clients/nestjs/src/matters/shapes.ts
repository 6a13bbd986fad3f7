import { z } from "zod";
import { Page, int32, queryInt } from "../http/shapes.js";

export const MattersQuery = z.object({ ...Page.shape, name: z.string().optional() });

export const MatterBody = z.strictObject({ name: z.string(), user_id: z.string().optional() });

export const TextQuery = z.object({
  start: queryInt.optional().describe("In code points."),
  max_length: queryInt.optional().describe("In code points."),
  page: queryInt.optional(),
});

const documentIds = z.array(z.string()).optional();

export const SearchBody = z.strictObject({
  query: z.string(),
  max_results: int32.optional(),
  threshold: z.number().optional(),
  semantic_weight: z.number().optional(),
  include_context: z.boolean().optional(),
  document_ids: documentIds,
});

export const ExtractBody = z.strictObject({
  question: z.string(),
  document_ids: documentIds,
  min_confidence: z.number().optional(),
  max_alternatives: int32.optional(),
});

export const ClassifyBody = z.strictObject({
  clause_types: z.array(z.string()).optional(),
  document_ids: documentIds,
  min_confidence: z.number().optional(),
  max_clauses: int32.optional(),
});

export type MattersQuery = z.infer<typeof MattersQuery>;
export type MatterBody = z.infer<typeof MatterBody>;
export type TextQuery = z.infer<typeof TextQuery>;
export type SearchBody = z.infer<typeof SearchBody>;
export type ExtractBody = z.infer<typeof ExtractBody>;
export type ClassifyBody = z.infer<typeof ClassifyBody>;
