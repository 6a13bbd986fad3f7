import { create, toBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { Metadata } from "@grpc/grpc-js";
import { expect, test, vi } from "vitest";

import { ErrorInfoSchema } from "../src/es/google/rpc/error_details_pb.js";
import { StatusSchema } from "../src/es/google/rpc/status_pb.js";
import { ProvisoError } from "../src/index.js";

test("an error of another copy of the package keeps what it says", async () => {
  vi.resetModules();
  const another = await import("../src/index.js");
  const thrown = new another.ProvisoError(8, "too many turns", { reason: "TOO_BUSY", retryAfterMs: 1000 });
  expect(thrown).not.toBeInstanceOf(ProvisoError);
  const read = ProvisoError.from(thrown);
  expect(read).toBeInstanceOf(ProvisoError);
  expect(read).toMatchObject({ status: "RESOURCE_EXHAUSTED", reason: "TOO_BUSY", retryAfterMs: 1000, cause: thrown });
  expect(read.message).toBe("too many turns");
});

test("what is no failed call is UNKNOWN, with its cause", () => {
  const cause = new TypeError("no such thing");
  expect(ProvisoError.from(cause)).toMatchObject({ status: "UNKNOWN", reason: undefined, cause });
  expect(ProvisoError.from("words").message).toBe("words");
});

test("a reason of another domain is not taken for the service's", () => {
  const info = create(ErrorInfoSchema, { reason: "TOO_BUSY", domain: "mesh.example", metadata: { host: "a" } });
  const metadata = new Metadata();
  const sent = create(StatusSchema, { code: 14, details: [anyPack(ErrorInfoSchema, info)] });
  metadata.set("grpc-status-details-bin", Buffer.from(toBinary(StatusSchema, sent)));
  const failed = Object.assign(new Error("no healthy upstream"), {
    code: 14,
    details: "no healthy upstream",
    metadata,
  });
  expect(ProvisoError.from(failed)).toMatchObject({ status: "UNAVAILABLE", reason: undefined, metadata: {} });
});
