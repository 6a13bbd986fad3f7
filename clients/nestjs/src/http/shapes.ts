import { z } from "zod";

// Limits of lengths and numbers are the service's; here are types and names.

export const int32 = z.int32();
export const queryInt = z.coerce.number().int().min(-2_147_483_648).max(2_147_483_647);

/** Of a body that makes something. */
export const requestId = z.string().optional().describe("Makes a retry safe.");

/** Who asks, in the query. */
export const WhoAsks = z.object({
  user_id: z.string().optional().describe("The user, where the caller's credential does not say it."),
});

/** A page of a list. */
export const Page = z.object({
  page_size: queryInt.optional(),
  page_token: z.string().optional(),
});

export type WhoAsks = z.infer<typeof WhoAsks>;
export type Page = z.infer<typeof Page>;
