import { expect, test } from "vitest";
import { ApiError } from "../../src/core/api.js";
import type { Problem } from "../../src/core/api.js";
import { uploadFailure } from "../../src/matters/upload-failure.js";

function sentenceFor(problem: Partial<Problem> & { status: number }): string {
  return uploadFailure(new ApiError({ title: "Bad Request", ...problem }));
}

function violation(description: string): Partial<Problem> & { status: number } {
  return { status: 400, reason: "INVALID_REQUEST", violations: [{ field: "data", description }] };
}

test("too large, with the service's limit", () => {
  expect(sentenceFor(violation("is larger than 20,971,520 bytes, the most that is taken"))).toBe(
    "The file is too large: at most 20.9 MB are taken. Split it and upload the parts.",
  );
  expect(sentenceFor(violation("is larger than 2,000 bytes, the most that is taken"))).toContain("at most 2,000 bytes");
});

test("too large for the gateway", () => {
  expect(sentenceFor({ status: 413 })).toBe("The file is too large. Split it and upload the parts.");
});

test("empty", () => {
  expect(sentenceFor(violation("is empty"))).toContain("The file is empty.");
});

test("a type that is not read: the service says how to save it", () => {
  const detail = "old.doc is a Word 97 file: save it as .docx";
  expect(sentenceFor({ status: 400, reason: "UNSUPPORTED_DOCUMENT", detail })).toBe(
    "Old.doc is a Word 97 file: save it as .docx.",
  );
  expect(sentenceFor({ status: 415 })).toContain("Save it as PDF, Word (.docx)");
});

test("a cut connection, a draining service, a matter that is gone", () => {
  expect(sentenceFor({ status: 0 })).toContain("connection was lost");
  expect(sentenceFor({ status: 503, reason: "DRAINING" })).toContain("Try again");
  expect(sentenceFor({ status: 404, reason: "MATTER_NOT_FOUND" })).toContain("does not exist any more");
});

test("anything else in the service's words, as a sentence", () => {
  expect(sentenceFor({ status: 500, detail: "something broke" })).toBe("Something broke.");
});
