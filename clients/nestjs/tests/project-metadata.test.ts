import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { FileStore } from "../src/project-metadata/file-store.js";
import { Browser } from "./support/browser.js";
import { gatewayOf } from "./support/gateway.js";
import type { TestGateway } from "./support/gateway.js";
import { Service, script } from "./support/service.js";

interface Asset {
  kind: string;
  name: string;
  included: boolean;
}

interface TurnStart {
  turn_id: string;
  request_context: { assets: Asset[] };
}

interface Part {
  type: string;
  text?: string;
}

interface Received {
  content: string | Part[];
  assets: Asset[];
}

const MESSAGE = script({ tokens: ["Good day."] });
const AUTH = {
  filename: "auth.js",
  type: "js",
  summary: "JWT authentication middleware with role-based access control...",
};
const USERS = { filename: "user-service.py", type: "py", summary: "User management service with CRUD operations..." };
const IMAGES = ["dashboard", "mobile-view", "color-palette"].map((name) => ({ url: `https://s3.example/${name}.png` }));

function linesOf(documents: (typeof AUTH)[]): string {
  const lines = documents.map(({ filename, type, summary }) => `- ${filename} (${type}): ${summary}`);
  return ["[Uploaded Documents Context]", ...lines].join("\n");
}

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

  /** Sends a message, and returns what the model received with it: the text, and the assets of the request's context. */
  async function received(body: { session_id: string; user_id?: string; [name: string]: unknown }): Promise<Received> {
    const events = await browser.events("POST", "/chat", { message: MESSAGE, matter_context, ...body });
    const { turn_id, request_context } = events[0]?.data as unknown as TurnStart;
    const path = `/turns/${turn_id}/request?user_id=${body.user_id ?? ""}`;
    const rebuilt = await browser.json<{ payload_json: string; matches: boolean }>("GET", path);
    expect(rebuilt.matches).toBe(true);
    const { messages } = JSON.parse(rebuilt.payload_json) as { messages: { content: string | Part[] }[] };
    return { content: messages.at(-1)?.content ?? "", assets: request_context.assets };
  }

  test("example 1, documents only: they stand ahead of the message, a line each", async () => {
    const session_id = await project("documents", { documents: [AUTH, USERS] });
    const { content, assets } = await received({ session_id });
    expect(content).toContain(`\n\n${linesOf([AUTH, USERS])}\n\n${MESSAGE}`);
    expect(assets.map(({ name, included }) => [name, included])).toEqual([
      ["auth.js", true],
      ["user-service.py", true],
    ]);
  });

  test("example 2, images only: they follow the text, in their order", async () => {
    const session_id = await project("images", { images: IMAGES });
    const { content, assets } = await received({ session_id });
    const [text, ...images] = content as Part[];
    expect(text?.text).toMatch(/\n\n\{"steps"/);
    expect(text?.text).not.toContain("Uploaded Documents");
    // None of them is on the public internet, which the model is told in the place of each.
    expect(images.map((image) => image.text?.slice(0, 9))).toEqual(["[Image 1 ", "[Image 2 ", "[Image 3 "]);
    expect(assets.map(({ kind, name }) => [kind, name])).toEqual(IMAGES.map(({ url }) => ["ASSET_KIND_IMAGE", url]));
  });

  test("example 3, both: the documents ahead of the message and the images behind it", async () => {
    const session_id = await project("both", { images: IMAGES.slice(0, 2), documents: [AUTH, USERS] });
    const { content, assets } = await received({ session_id });
    const [text, ...images] = content as Part[];
    expect(text?.text).toContain(`\n\n${linesOf([AUTH, USERS])}\n\n${MESSAGE}`);
    expect(images).toHaveLength(2);
    expect(assets).toHaveLength(4);
  });

  test("what the message brings itself is taken in its place, and an empty list means none", async () => {
    const session_id = await project("own", { images: IMAGES, documents: [AUTH] });
    const own = await received({ session_id, document_context: [USERS], image_urls: [] });
    expect(own.assets.map(({ name }) => name)).toEqual(["user-service.py"]);
    const half = await received({ session_id, document_context: [] });
    expect(half.assets.map(({ name }) => name)).toEqual(IMAGES.map(({ url }) => url));
    const preview = { message: "Hi", matter_context };
    const seen = await browser.json<TurnStart>("POST", `/sessions/${session_id}/preview`, preview);
    expect(seen.request_context.assets).toHaveLength(4);
  });

  test("a session that is yet to be made has none, and another user's session of the same id neither", async () => {
    expect((await received({ session_id: "unmade" })).assets).toEqual([]);
    await project("shared", { documents: [AUTH] }, "ann");
    await browser.json("POST", "/sessions", { session_id: "shared", user_id: "bob" });
    expect((await received({ session_id: "shared", user_id: "bob" })).assets).toEqual([]);
    expect((await received({ session_id: "shared", user_id: "ann" })).assets).toHaveLength(1);
    const theirs = await browser.json("GET", "/sessions/shared/project-metadata?user_id=bob");
    expect(theirs).toEqual({ images: [], documents: [] });
  });

  test("metadata goes with its session, and is of one that there is", async () => {
    const path = `/sessions/${await project("gone", { documents: [AUTH] })}`;
    const kept = await browser.json("GET", `${path}/project-metadata`);
    expect(kept).toEqual({ images: [], documents: [AUTH] });
    expect((await browser.fetch("DELETE", path)).status).toBe(204);
    expect((await browser.fetch("GET", `${path}/project-metadata`)).status).toBe(404);
    expect((await browser.fetch("PUT", `${path}/project-metadata`, { documents: [AUTH] })).status).toBe(404);
    expect((await browser.fetch("PUT", `${path}/project-metadata`, { documents: [{}] })).status).toBe(400);
    await browser.json("POST", "/sessions", { session_id: "gone" });
    expect(await browser.json("GET", `${path}/project-metadata`)).toEqual({ images: [], documents: [] });
  });

  test("a session that goes on from another has its items, its last messages and its metadata", async () => {
    const path = `/sessions/${await project("full", { documents: [AUTH] })}`;
    await received({ session_id: "full" });
    const { session: before } = await browser.json<{ session: { items: object[] } }>("GET", path);
    const answer = await browser.fetch("POST", `${path}/continue`, { new_session_id: "on from it" });
    const { session } = (await answer.json()) as { session: object };
    expect([answer.status, session]).toMatchObject([
      201,
      { session_id: "on from it", message_count: 2, matter_context, items: before.items },
    ]);
    const made = "/sessions/on%20from%20it";
    const { messages } = await browser.json<{ messages: object[] }>("GET", `${made}/messages`);
    expect(messages).toMatchObject([{ content: MESSAGE }, { role: "MESSAGE_ROLE_ASSISTANT" }]);
    expect((await received({ session_id: "on from it" })).assets).toMatchObject([{ name: AUTH.filename }]);
    await browser.fetch("DELETE", path);
    expect(await browser.json("GET", `${made}/project-metadata`)).toEqual({ images: [], documents: [AUTH] });
  });

  test("a session goes on for its user only, under an id that is free", async () => {
    const path = `/sessions/${await project("anns", { documents: [AUTH] }, "ann")}/continue`;
    expect((await browser.fetch("POST", path, { user_id: "bob" })).status).toBe(404);
    expect((await browser.fetch("POST", path, { user_id: "ann", new_session_id: "anns" })).status).toBe(409);
    expect((await browser.fetch("POST", path, { user_id: "ann", session_id: "x" })).status).toBe(400);
    const { session } = await browser.json<{ session: { session_id: string } }>("POST", path, { user_id: "ann" });
    const kept = `/sessions/${session.session_id}/project-metadata?user_id=ann`;
    expect(await browser.json("GET", kept)).toEqual({ images: [], documents: [AUTH] });
  });

  test("of two gateways on one folder, metadata put at the same time is that of one of them, and whole", async () => {
    const other = await gatewayOf(service.url, { dataDir: gateway.dataDir });
    const browsers = [browser, new Browser(other.url)];
    const path = `/sessions/${await project("contended", { documents: [USERS] })}/project-metadata`;
    const put = Array.from({ length: 24 }, (_, number) => ({
      images: IMAGES.map(({ url }) => ({ url: `${url}?${number}` })),
      documents: Array.from({ length: 1 + (number % 5) * 20 }, () => ({ ...AUTH, type: String(number) })),
    }));
    const possible = [{ images: [], documents: [USERS] }, ...put].map((metadata) => JSON.stringify(metadata));
    const seen = put.map(async (metadata, number) => {
      const each = browsers[number % 2] ?? browser;
      const [, read] = await Promise.all([each.json("PUT", path, metadata), each.json("GET", path)]);
      return JSON.stringify(read);
    });
    for (const read of await Promise.all(seen)) expect(possible).toContain(read);
    const [one, another] = await Promise.all(browsers.map((each) => each.json("GET", path)));
    expect(one).toEqual(another);
    expect(possible.slice(1)).toContain(JSON.stringify(one));
    await browser.json("PUT", path, { documents: [AUTH] });
    expect(await browsers[1]?.json("GET", path)).toEqual({ images: [], documents: [AUTH] });
    await other.close();
  });

  test("a session is listed, shown, and given items of the catalog", async () => {
    const path = `/sessions/${await project("items", {})}`;
    const { items } = await browser.json<{ items: { item: { type: string; name: string } }[] }>(
      "GET",
      "/catalog/items",
    );
    const [{ type, name } = { type: "", name: "" }] = items.map(({ item }) => item);
    const shown = await browser.json("GET", `/catalog/items/${type}/${encodeURIComponent(name)}`);
    expect(shown).toMatchObject({ item: { item: { name } }, content: expect.any(String) as string });
    const titled = await browser.json("PATCH", path, { title: "Items of a lease" });
    expect(titled).toMatchObject({ session: { session_id: "items", title: "Items of a lease", notes: "" } });
    const added = await browser.json("POST", `${path}/context-items`, { type, name });
    expect(JSON.stringify(added)).toContain(JSON.stringify(name));
    const query = new URLSearchParams({ type, name });
    const removed = await browser.json("DELETE", `${path}/context-items?${query.toString()}`);
    expect(removed).toMatchObject({ session: { session_id: "items" } });
    expect(await browser.json("GET", `${path}/suggested-removals`)).toMatchObject({ suggestions: [] });
    await received({ session_id: "items" });
    const { messages } = await browser.json<{ messages: object[] }>("GET", `${path}/messages`);
    expect(messages).toMatchObject([
      { role: "MESSAGE_ROLE_USER", content: MESSAGE },
      {
        role: "MESSAGE_ROLE_ASSISTANT",
        request_context: {},
        turn: { exit_reason: expect.stringMatching(/^EXIT_REASON_/) as string },
      },
    ]);
    const { sessions } = await browser.json<{ sessions: object[] }>("GET", "/sessions?page_size=100");
    expect(sessions).toContainEqual(expect.objectContaining({ session_id: "items" }));
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
    const then = new Date(Date.now() - 3_600_000);
    utimesSync(join(folder, "a.json.1.tmp"), then, then);
    await storeOf();
    expect(readdirSync(folder)).toEqual([]);
  });

  test("that are being written stay, and count for nothing, when another gateway starts on the folder", async () => {
    writeFileSync(join(folder, "a.json.1.tmp"), "{");
    const store = await storeOf({ maxBytes: 1_000, maxSessions: 1 });
    expect(readdirSync(folder)).toEqual(["a.json.1.tmp"]);
    await store.write(key, metadata);
    expect(await store.read(key)).toEqual(metadata);
  });
});
