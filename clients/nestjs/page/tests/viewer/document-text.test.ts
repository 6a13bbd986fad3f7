import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { DocumentText } from "../../src/viewer/document-text.js";
import { extent, textOf } from "../../src/viewer/text-window.js";

const POINTS = Array.from("😀 text of a document\n".repeat(2_000));

let asked: string[];
let isDown: boolean;
let text: DocumentText;

beforeEach(() => {
  asked = [];
  isDown = false;
  vi.stubGlobal("fetch", (path: string, { signal }: RequestInit) => {
    asked.push(path);
    if (isDown || signal?.aborted) return Promise.reject(new TypeError("down"));
    const query = new URL(path, "http://gateway").searchParams;
    const start = Number(query.get("start"));
    const part = POINTS.slice(start, start + Number(query.get("max_chars"))).join("");
    return Promise.resolve(
      Response.json({ text: part, start, character_count: POINTS.length, filename: "a.md", page: 0, section_path: [] }),
    );
  });
  text = new DocumentText("m", "d");
});

afterEach(() => {
  text.close();
  vi.unstubAllGlobals();
});

test("a place is loaded with what is around it, once", async () => {
  await text.show({ start: 20_000, end: 20_010 });
  await text.show({ start: 20_100, end: 20_200 });
  expect(asked).toHaveLength(1);
  expect(text.filename.value).toBe("a.md");
});

test("it grows at both ends, and stays as in the document", async () => {
  await text.show({ start: 20_000, end: 20_010 });
  await text.extend("before");
  await text.extend("after");
  const window = text.window.value;
  if (window === undefined) throw new Error("nothing is loaded");
  const { start, end } = extent(window);
  expect([start, end]).toEqual([10_000, 34_000]);
  expect(textOf(window)).toBe(POINTS.slice(start, end).join(""));
});

test("one part is loaded at a time", async () => {
  await text.show({ start: 20_000, end: 20_010 });
  await Promise.all([text.extend("after"), text.extend("after"), text.extend("before")]);
  expect(asked).toHaveLength(2);
});

test("a place that is asked for while another loads wins", async () => {
  await Promise.all([text.show({ start: 30_000, end: 30_001 }), text.show({ start: 0, end: 1 })]);
  expect(text.window.value && extent(text.window.value).start).toBe(0);
});

test("a failure is told, and gone when it is tried again", async () => {
  await text.show({ start: 20_000, end: 20_010 });
  isDown = true;
  await text.extend("after");
  expect(text.error.value?.message).toContain("cannot be reached");
  isDown = false;
  await text.show({ start: 20_000, end: 20_010 });
  expect(text.error.value).toBeUndefined();
});

test("page and section are asked for once for a place", async () => {
  await text.locate(5);
  await text.locate(5);
  expect(asked).toHaveLength(1);
  expect(text.where.value).toMatchObject({ page: 0, section_path: [] });
});
