import type { Schema } from "./contract-schemas.js";

const text = { type: "string" };

/** Schemas of what the gateway itself says. */
export const OWN_SCHEMAS: Readonly<Record<string, Schema>> = {
  Problem: {
    type: "object",
    description: "A failure (RFC 9457).",
    required: ["type", "title", "status"],
    properties: {
      type: { type: "string", enum: ["about:blank"] },
      title: text,
      status: { type: "integer" },
      detail: text,
      reason: { type: "string", description: "The contract's reason, as INVALID_REQUEST." },
      violations: {
        type: "array",
        items: { type: "object", required: ["field", "description"], properties: { field: text, description: text } },
      },
      retry_after_ms: { type: "number" },
      metadata: { type: "object", additionalProperties: text },
      faults: {
        type: "array",
        description: "Of INVALID_IQL: where the query is wrong, in code points, and what would correct it.",
        items: {
          type: "object",
          required: ["start", "end", "message", "suggestions", "edits"],
          properties: {
            start: { type: "integer" },
            end: { type: "integer" },
            message: text,
            suggestions: { type: "array", items: text },
            edits: { type: "array", items: { type: "object" } },
          },
        },
      },
      instance: text,
    },
  },
  TurnEvent: {
    type: "object",
    description: "What all events of a turn have; what happened stands beside it.",
    required: ["turn_id", "sequence", "emit_time"],
    properties: { turn_id: text, sequence: { type: "integer" }, emit_time: { type: "string", format: "date-time" } },
  },
  ProjectMetadata: {
    type: "object",
    required: ["images", "documents"],
    properties: {
      images: { type: "array", items: { type: "object", required: ["url"], properties: { url: text, name: text } } },
      documents: {
        type: "array",
        items: {
          type: "object",
          required: ["filename", "type", "summary"],
          properties: { filename: text, type: text, summary: text },
        },
      },
    },
  },
  Account: {
    type: "object",
    required: ["sign_in", "signed_in"],
    properties: {
      sign_in: { type: "boolean", description: "Whether people sign in here." },
      signed_in: { type: "boolean" },
      name: { type: "string", description: "Of the person, as the provider tells it." },
    },
  },
  SignedOut: { type: "object", properties: { end_session_url: text } },
  Health: { type: "object", required: ["status"], properties: { status: { type: "string", enum: ["ok"] } } },
};
