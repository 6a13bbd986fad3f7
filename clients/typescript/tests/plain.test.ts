import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { plain, toDate, toMilliseconds } from "../src/index.js";
import { file_proviso_v1_access } from "../src/es/proviso/v1/access_pb.js";
import { file_proviso_v1_catalog } from "../src/es/proviso/v1/catalog_pb.js";
import { file_proviso_v1_chat } from "../src/es/proviso/v1/chat_pb.js";
import { file_proviso_v1_context } from "../src/es/proviso/v1/context_pb.js";
import { file_proviso_v1_maintenance } from "../src/es/proviso/v1/maintenance_pb.js";
import { file_proviso_v1_matters } from "../src/es/proviso/v1/matters_pb.js";
import { file_proviso_v1_sessions } from "../src/es/proviso/v1/sessions_pb.js";
import { file_proviso_v1_tools } from "../src/es/proviso/v1/tools_pb.js";
import { file_proviso_v1_turns } from "../src/es/proviso/v1/turns_pb.js";

const FILES = [
  file_proviso_v1_access,
  file_proviso_v1_catalog,
  file_proviso_v1_chat,
  file_proviso_v1_context,
  file_proviso_v1_maintenance,
  file_proviso_v1_matters,
  file_proviso_v1_sessions,
  file_proviso_v1_tools,
  file_proviso_v1_turns,
];
const FIELDS = FILES.flatMap((file) => file.messages.flatMap(fieldsOf));
const SAMPLE = { seconds: "1700000000", nanos: 250_000_000 };

function fieldsOf(message: DescMessage): DescField[] {
  return [...message.fields, ...message.nestedMessages.flatMap(fieldsOf)];
}

/** What `plain` should make of a field that holds SAMPLE. */
function expected(field: DescField): unknown {
  if (field.message?.typeName === "google.protobuf.Timestamp") return toDate(SAMPLE);
  return field.message?.typeName === "google.protobuf.Duration" ? toMilliseconds(SAMPLE) : SAMPLE;
}

test("every time and duration of the contract is told by its name, and nothing else is taken for one", () => {
  expect(FIELDS.length).toBeGreaterThan(300);
  for (const field of FIELDS) {
    expect(Object.values(plain({ [field.localName]: SAMPLE })), String(field)).toEqual([expected(field)]);
  }
});

test("the contract has no int64 and no wrapper of a scalar, which NestJS's loader could not give plainly", () => {
  const int64 = FIELDS.filter((field) => field.scalar !== undefined && [3, 4, 6, 16, 18].includes(field.scalar));
  const wrapped = FIELDS.filter((field) =>
    /^google\.protobuf\.(.+Value|Struct|Any)$/.test(field.message?.typeName ?? ""),
  );
  expect([...int64, ...wrapped].map(String)).toEqual([]);
});

test("absent fields and the loader's marks of optional ones are left out, also in lists", () => {
  const message = { score: null, _score: "score", items: [{ startTime: null, name: "" }], data: Buffer.from("x") };
  expect(plain(message)).toEqual({ items: [{ name: "" }], data: Buffer.from("x") });
});

test("times keep milliseconds, durations also what is below", () => {
  expect(toDate({ seconds: "1", nanos: 999_999_999 })).toEqual(new Date(1999));
  expect(toMilliseconds({ seconds: "-1", nanos: -500_000 })).toBe(-1000.5);
});
