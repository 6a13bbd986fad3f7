import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";
import { file_proviso_v1_access } from "@proviso/client/es/access";
import { file_proviso_v1_catalog } from "@proviso/client/es/catalog";
import { file_proviso_v1_chat } from "@proviso/client/es/chat";
import { file_proviso_v1_context } from "@proviso/client/es/context";
import { file_proviso_v1_matters } from "@proviso/client/es/matters";
import { file_proviso_v1_sessions } from "@proviso/client/es/sessions";
import { file_proviso_v1_tools } from "@proviso/client/es/tools";
import { file_proviso_v1_turns } from "@proviso/client/es/turns";

/** A schema of OpenAPI. */
export type Schema = Record<string, unknown>;

const FILES = [
  file_proviso_v1_access,
  file_proviso_v1_catalog,
  file_proviso_v1_chat,
  file_proviso_v1_context,
  file_proviso_v1_matters,
  file_proviso_v1_sessions,
  file_proviso_v1_tools,
  file_proviso_v1_turns,
];
const MESSAGES = new Map(FILES.flatMap((file) => file.messages).map((message) => [message.name, message]));

const utf16 = { type: "integer", description: "In UTF-16 code units." };

/** Fields that the gateway adds. */
const ADDED: Readonly<Record<string, Record<string, Schema>>> = {
  Citation: {
    answer_utf16: {
      type: "object",
      description: "The cited part of the answer, where the gateway knows its text.",
      properties: { start: utf16, end: utf16 },
    },
  },
  IqlError: { start_utf16: utf16, end_utf16: utf16 },
  IqlEdit: { start_utf16: utf16, end_utf16: utf16 },
};

/** The schemas of the contract's messages by name, with those that they refer to: as the gateway's JSON has them. */
export function contractSchemas(names: Iterable<string>): Record<string, Schema> {
  const schemas: Record<string, Schema> = {};
  const wanted = [...names];
  for (let name = wanted.pop(); name !== undefined; name = wanted.pop()) {
    const message = MESSAGES.get(name);
    if (message === undefined) throw new Error(`the contract has no message ${name}`);
    if (name in schemas) continue;
    schemas[name] = schemaOf(message);
    wanted.push(...message.fields.flatMap(messagesOf));
  }
  return schemas;
}

function schemaOf(message: DescMessage): Schema {
  const properties = Object.fromEntries(message.fields.map(property));
  return { type: "object", properties: { ...properties, ...ADDED[message.name] } };
}

function property(field: DescField): [string, Schema] {
  const type = field.message?.typeName;
  if (type === "google.protobuf.Duration")
    return [`${field.name}_ms`, { type: "number", description: "Milliseconds." }];
  const schema = valueOf(field);
  return [field.name, field.fieldKind === "list" ? { type: "array", items: schema } : schema];
}

function valueOf(field: DescField): Schema {
  if (field.enum) return { type: "string", enum: field.enum.values.map((value) => value.name) };
  if (field.message?.typeName === "google.protobuf.Timestamp") return { type: "string", format: "date-time" };
  if (field.message) return { $ref: `#/components/schemas/${field.message.name}` };
  switch (field.scalar) {
    case ScalarType.STRING:
      return { type: "string" };
    case ScalarType.BOOL:
      return { type: "boolean" };
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return { type: "number" };
    default:
      return { type: "integer" };
  }
}

function messagesOf(field: DescField): string[] {
  return field.message && !field.message.typeName.startsWith("google.") ? [field.message.name] : [];
}
