import { beforeEach, expect, test } from "vitest";
import { ApiError } from "../../src/core/api.js";
import type { Document } from "../../src/core/contract.js";
import { MOST_FILES, UploadQueue } from "../../src/matters/upload-queue.js";
import type { Stored, Upload } from "../../src/matters/upload.js";

/** An upload that the test ends. */
interface Sent {
  name: string;
  tellShare: (share: number) => void;
  store: (alreadyExisted?: boolean) => Promise<void>;
  fail: (error: ApiError) => Promise<void>;
}

let sent: Sent[];
let stored: string[];
let queue: UploadQueue;

beforeEach(() => {
  sent = [];
  stored = [];
  queue = new UploadQueue(send, ({ document }) => stored.push(document.filename));
});

function send(file: File, tellShare: (share: number) => void): Upload {
  let end: (answer: Stored | ApiError) => void = () => undefined;
  const stored = new Promise<Stored>((resolve, reject) => {
    end = (answer) => {
      if (answer instanceof ApiError) reject(answer);
      else resolve(answer);
    };
  });
  const settled = (answer: Stored | ApiError): Promise<void> => {
    end(answer);
    return new Promise((done) => setTimeout(done));
  };
  const document = { filename: file.name } as Document;
  sent.push({
    name: file.name,
    tellShare,
    store: (already_existed = false) => settled({ document, already_existed }),
    fail: settled,
  });
  const cancel = (): void => {
    end(new ApiError({ title: "gone", status: 0 }));
  };
  return { stored, cancel };
}

function files(...names: string[]): File[] {
  return names.map((name) => new File(["text"], name));
}

const states = () => queue.items.value.map(({ filename, state }) => `${filename} ${state}`);

test("two files at a time, in order", async () => {
  queue.add(files("a", "b", "c"));
  expect(states()).toEqual(["a sending", "b sending", "c queued"]);
  await sent[0]?.store();
  expect(sent.map(({ name }) => name)).toEqual(["a", "b", "c"]);
  expect(stored).toEqual(["a"]);
});

test("one that is stored leaves the list: it is a document now", async () => {
  queue.add(files("a"));
  await sent[0]?.store();
  expect(states()).toEqual([]);
});

test("one that the matter has already says so", async () => {
  queue.add(files("a"));
  await sent[0]?.store(true);
  expect(states()).toEqual(["a already_there"]);
  queue.clearFinished();
  expect(states()).toEqual([]);
});

test("its share is told while it is sent", () => {
  queue.add(files("a"));
  sent[0]?.tellShare(0.4);
  expect(queue.items.value[0]?.share).toBe(0.4);
});

test("a failure is a sentence, and the next file is sent", async () => {
  queue.add(files("a", "b", "c"));
  await sent[0]?.fail(new ApiError({ title: "", status: 413 }));
  expect(states()).toEqual(["a failed", "b sending", "c sending"]);
  expect(queue.items.value[0]?.failure).toContain("too large");
});

test("an empty file fails without being sent", () => {
  queue.add([new File([], "empty.txt")]);
  expect(states()).toEqual(["empty.txt failed"]);
  expect(sent).toEqual([]);
});

test("a queued file that is cancelled is never sent, a sent one ends as cancelled", async () => {
  queue.add(files("a", "b", "c"));
  queue.cancel(queue.items.value[2]?.id ?? 0);
  queue.cancel(queue.items.value[0]?.id ?? 0);
  await sent[1]?.store();
  expect(states()).toEqual(["a cancelled", "c cancelled"]);
  expect(sent).toHaveLength(2);
});

test("files over the limit are not taken", () => {
  const many = Array.from({ length: MOST_FILES + 3 }, (_, i) => `${i}`);
  expect(queue.add(files(...many))).toBe(3);
  expect(queue.unfinished.value).toBe(MOST_FILES);
});

test("closing cancels all", () => {
  queue.add(files("a", "b", "c"));
  queue.close();
  expect(queue.unfinished.value).toBe(0);
});
