import { applyDecorators } from "@nestjs/common";
import { ApiConsumes, ApiBody, ApiHeader, ApiOperation, ApiQuery, ApiResponse } from "@nestjs/swagger";

/** What a route does, in a sentence. */
export function Does(summary: string): MethodDecorator {
  return ApiOperation({ summary });
}

/** Responses that hold a message of the contract, or another of the named schemas. */
export function Answers(schema: string, ...statuses: number[]): MethodDecorator {
  const all = statuses.length > 0 ? statuses : [200];
  return applyDecorators(...all.map((status) => ApiResponse({ status, description: schema, schema: named(schema) })));
}

/** A response without a body. */
export function AnswersNothing(): MethodDecorator {
  return ApiResponse({ status: 204, description: "Done." });
}

/** The bytes of a file, or a range of them. */
export function AnswersFile(): MethodDecorator {
  const content = { "application/octet-stream": { schema: { type: "string", format: "binary" } } };
  return applyDecorators(
    ApiHeader({ name: "Range", required: false, schema: { type: "string" }, description: "A range of bytes." }),
    ApiResponse({ status: 200, description: "The file, of its own media type.", content }),
    ApiResponse({ status: 206, description: "The range of bytes.", content }),
  );
}

/** A response of Server-Sent Events: by the event's name the schemas that its data has together. */
export function Streams(events: Readonly<Record<string, readonly string[]>>): MethodDecorator {
  const names = [...Object.keys(events), "error"].map((name) => `\`${name}\``).join(", ");
  const data = Object.values(events).map((schemas) => ({ allOf: schemas.map(named) }));
  return ApiResponse({
    status: 200,
    description: `Server-Sent Events ${names}; the schema is that of their data.`,
    content: { "text/event-stream": { schema: { oneOf: [...data, named("Problem")] } } },
  });
}

/** The events of a turn, and how to resume them. */
export function StreamsTurn(): MethodDecorator {
  return applyDecorators(
    Streams({
      turn_start: ["TurnEvent", "TurnStart"],
      token: ["TurnEvent", "Token"],
      text_discarded: ["TurnEvent", "TextDiscarded"],
      tool_start: ["TurnEvent", "ToolStart"],
      tool_end: ["TurnEvent", "ToolEnd"],
      citation: ["TurnEvent", "Citation"],
      approval_required: ["TurnEvent", "ApprovalRequired"],
      final_state: ["TurnEvent", "FinalState"],
    }),
    ApiHeader({
      name: "Last-Event-ID",
      required: false,
      schema: { type: "integer" },
      description: "The last event seen.",
    }),
    ApiQuery({
      name: "after",
      required: false,
      schema: { type: "integer" },
      description: "In place of Last-Event-ID.",
    }),
  );
}

/** A form with one file. */
export function TakesFile(): MethodDecorator {
  const file = { type: "string", format: "binary" };
  const schema = { type: "object", required: ["file"], properties: { file } };
  return applyDecorators(ApiConsumes("multipart/form-data"), ApiBody({ schema }));
}

function named(schema: string): { $ref: string } {
  return { $ref: `#/components/schemas/${schema}` };
}
