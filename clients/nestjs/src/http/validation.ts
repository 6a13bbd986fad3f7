import { StandardSchemaValidationPipe } from "@nestjs/common";
import { Refusal } from "./refusal.js";

interface Issue {
  message: string;
  path?: readonly (PropertyKey | { key: PropertyKey })[] | undefined;
}

const NO_OBJECT = { field: "body", description: "This must be an object in JSON, sent as application/json." };

/** Checks bodies and queries against the schemas of their handlers. */
export const validation = new StandardSchemaValidationPipe({
  exceptionFactory: (issues: readonly Issue[]) =>
    new Refusal(400, "The request is not valid.", issues.slice(0, 50).flatMap(violationsOf)),
});

function violationsOf(issue: Issue & { keys?: unknown }): { field: string; description: string }[] {
  const path = (issue.path ?? []).map((part) => String(typeof part === "object" ? part.key : part));
  if (path.length === 0 && !Array.isArray(issue.keys)) return [NO_OBJECT];
  if (!Array.isArray(issue.keys)) return [{ field: path.join("."), description: issue.message }];
  return issue.keys.map((key) => ({ field: [...path, key].join("."), description: "There is no such field." }));
}
