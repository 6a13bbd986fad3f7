import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { FileStore } from "../src/project-metadata/file-store.js";
import { Browser } from "./support/browser.js";
import { gatewayOf } from "./support/gateway.js";
import type { TestGateway } from "./support/gateway.js";
import { Service, script } from "./support/service.js";

interface Part {
  type: string;
  text?: string;
  image_url?: { url: string };
}

interface Payload {
  messages: { type: string; content: string | Part[] }[];
}

const ANSWER = { steps: [{ tokens: ["Good day."] }] };
const MESSAGE = script(...ANSWER.steps);
const AUTH = {
  filename: "auth.js",
  type: "js",
  summary: "JWT authentication middleware with role-based access control...",
};
const USERS = { filename: "user-service.py", type: "py", summary: "User management service with CRUD operations..." };
const IMAGES = ["dashboard", "mobile-view", "color-palette"].map((name) => ({ url: `https://s3.example/${name}.png` }));

describe("for the messages of a session", () => {
  const service = new Service();
  let gateway: TestGateway;
  let browser: Browser;
  let matter_context: { matter_id: string };

  beforeAll(async () => {
    await service.start();
    gateway = await gatewayOf(service.url);
    browser = new Browser(gateway.url);
    const { matter } = await browser.json<{ matter: { matter_id: string } }>("POST", "/matters", { name: "Northwind" });
    matter_context = { matter_id: matter.matter_id };
  });

  afterAll(async () => {
    await gateway.close();
    await service.remove();
  });

  /** Puts metadata for a new session. */
  async function project(session_id: string, metadata: object, user = ""): Promise<string> {
    await browser.json("POST", "/sessions", { session_id, user_id: user });
    await browser.json("PUT", `/sessions/${session_id}/project-metadata?user_id=${user}`, metadata);
    return session_id;
  }

  /** Sends a message, and returns the last one that the model received. */
  async function received(body: object): Promise<string | Part[] | undefined> {
    const events = await browser.events("POST", "/chat", { message: MESSAGE, matter_context, ...body });
    const { turn_id, user_id = "" } = { user_id: "", ...body, ...(events[0]?.data as { turn_id: string }) };
    const path = `/turns/${turn_id}/request?user_id=${user_id}`;
    const rebuilt = await browser.json<{ payload_json: string; matches: boolean }>("GET", path);
    expect(rebuilt.matches).toBe(true);
    return (JSON.parse(rebuilt.payload_json) as Payload).messages.at(-1)?.content;
  }

  test("documents come ahead of the message, each with its summary", async () => {
    const session_id = await project("documents", { documents: [AUTH, USERS] });
    const content = JSON.stringify(await received({ session_id }));
    const documents = [AUTH, USERS].map(({ filename, type, summary }) => `- ${filename} (${type}): ${summary}`);
    const expected = `[Uploaded Documents Context]\n${documents.join("\n")}`;
    expect(content).toContain(JSON.stringify(expected).slice(1, -1));
  });
});

describe("the files", () => {
  const key = { userId: "../../ann", sessionId: "a/b", created: "1.5" };
  const metadata = { images: [], documents: [AUTH] };
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "proviso-store-"));
  });

  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  async function storeOf(limits = { maxBytes: 1_000, maxSessions: 2 }): Promise<FileStore> {
    const store = new FileStore(folder, limits);
    await store.prepare();
    return store;
  }

  test("are found by user, session and the time it was made, and have names that tell nothing", async () => {
    const store = await storeOf();
    await store.write(key, metadata);
    expect(await (await storeOf()).read(key)).toEqual(metadata);
    for (const other of [{ userId: "b" }, { sessionId: "b" }, { created: "2.5" }]) {
      expect(await store.read({ ...key, ...other })).toBeUndefined();
    }
    expect(readdirSync(folder)).toEqual([expect.stringMatching(/^[0-9a-f]{64}\.json$/)]);
    await store.remove(key);
    await store.remove(key);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("are bounded, each and all together", async () => {
    const store = await storeOf();
    const large = { images: [{ url: "x".repeat(1_000) }], documents: [] };
    await expect(store.write(key, large)).rejects.toMatchObject({ status: 413 });
    await store.write(key, metadata);
    await store.write({ ...key, sessionId: "2" }, metadata);
    await expect(store.write({ ...key, sessionId: "3" }, metadata)).rejects.toMatchObject({ status: 429 });
    await store.write(key, { images: [], documents: [] });
    expect(await store.read(key)).toEqual({ images: [], documents: [] });
  });

  test("that were not written to their end are cleared away", async () => {
    writeFileSync(join(folder, "a.json.1.tmp"), "{");
    await storeOf();
    expect(readdirSync(folder)).toEqual([]);
  });
});
