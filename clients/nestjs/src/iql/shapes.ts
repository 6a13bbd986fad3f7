import { z } from "zod";
import { IqlComparison } from "@proviso/client/stubs/tools";
import { int32 } from "../http/shapes.js";

export const ParseBody = z.strictObject({ query: z.string(), matter_id: z.string().optional() });

export const QueryBody = z.strictObject({
  query: z.string(),
  document_ids: z.array(z.string()).optional(),
  min_score: z.number().optional(),
  comparison: z.enum(IqlComparison).optional(),
  page_size: int32.optional(),
  page_token: z.string().optional(),
  explain: z.boolean().optional(),
});

export type ParseBody = z.infer<typeof ParseBody>;
export type QueryBody = z.infer<typeof QueryBody>;
