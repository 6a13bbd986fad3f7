import { createHash } from "node:crypto";
import { once } from "node:events";
import { request } from "node:http";
import type { ClientRequest, IncomingMessage } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Browser } from "./support/browser.js";
import { gatewayOf } from "./support/gateway.js";
import type { TestGateway } from "./support/gateway.js";
import { Service } from "./support/service.js";
import { PATIENT } from "./support/waiting.js";

const MB = 1024 * 1024;
const BOUNDARY = "boundary";
const RENT = "😀 The rent is USD 500 a month. This agreement is governed by the laws of Norway.";

interface Uploaded {
  document: { document_id: string; filename: string; size_bytes: number };
  already_existed: boolean;
}

const service = new Service();
let gateway: TestGateway;
let browser: Browser;
let matterId: string;
let documentId: string;

beforeAll(async () => {
  await service.start();
  gateway = await gatewayOf(service.url, { maxUploadBytes: 32 * MB });
  browser = new Browser(gateway.url);
  matterId = await createMatter("Leases");
  const uploaded = (await (await browser.upload(matterId, RENT, "Mietvertrag für Ülö.txt")).json()) as Uploaded;
  documentId = uploaded.document.document_id;
});

afterAll(async () => {
  await gateway.close();
  await service.remove();
});

async function createMatter(name: string): Promise<string> {
  return (await browser.json<{ matter: { matter_id: string } }>("POST", "/matters", { name })).matter.matter_id;
}

async function documentsOf(matter: string): Promise<Record<string, unknown>[]> {
  return (await browser.json<{ documents: Record<string, unknown>[] }>("GET", `/matters/${matter}/documents`))
    .documents;
}

/** A form whose sender decides when its pieces come. */
function form(matter: string, headers: Record<string, string> = {}): ClientRequest {
  const type = `multipart/form-data; boundary=${BOUNDARY}`;
  const call = request(`${gateway.url}/matters/${matter}/documents`, {
    method: "POST",
    headers: { "Content-Type": type, ...headers },
  });
  call.on("error", () => undefined);
  return call;
}

function part(name: string, filename?: string): string {
  const file = filename === undefined ? "" : `; filename="${filename}"`;
  return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n`;
}

const END = `\r\n--${BOUNDARY}--\r\n`;

async function answerOf(call: ClientRequest): Promise<{ status: number | undefined; body: Record<string, unknown> }> {
  const [response] = (await once(call, "response")) as [IncomingMessage];
  return { status: response.statusCode, body: JSON.parse(await text(response)) as Record<string, unknown> };
}

test("an upload is stored under its name, and the same bytes are stored once", async () => {
  const states = await browser.events("GET", `/matters/${matterId}/documents/events`);
  expect(states.at(-1)).toMatchObject({
    event: "document",
    data: { document: { document_id: documentId, status: "DOCUMENT_STATUS_READY" }, chunks_done: 1, chunks_total: 1 },
  });
  expect(await documentsOf(matterId)).toMatchObject([{ filename: "Mietvertrag für Ülö.txt" }]);
  const again = await browser.upload(matterId, RENT, "again.txt");
  expect([again.status, (await again.json()) as Uploaded]).toMatchObject([200, { already_existed: true }]);
  const other = await browser.upload(matterId, "The term is two years.", "term.txt");
  expect([other.status, (await other.json()) as Uploaded]).toMatchObject([201, { already_existed: false }]);
});

test("a matter is made once under one request id, renamed and given notes", async () => {
  const body = { name: "Sale", request_id: "once" };
  const [{ matter }, again] = [await made(body), await made(body)];
  expect(again.matter).toEqual(matter);
  const path = `/matters/${matter.matter_id}`;
  expect(await browser.json("PATCH", path, { name: "Sale of the mill" })).toMatchObject({
    matter: { name: "Sale of the mill", notes: "" },
  });
  await browser.json("PATCH", path, { notes: "Due in May" });
  const changed = { matter: { name: "Sale of the mill", notes: "Due in May" } };
  expect(await browser.json("GET", path)).toMatchObject(changed);
  expect(await browser.json("PATCH", path, { notes: "" })).toMatchObject({ matter: { notes: "" } });
  expect((await browser.fetch("PATCH", path, { name: "" })).status).toBe(400);
  expect((await browser.fetch("PATCH", path, { document_count: 3 })).status).toBe(400);
  expect((await browser.fetch("POST", "/matters", { ...body, name: "Other" })).status).toBe(409);
  expect(await browser.json("GET", "/matters?name=Sale%20of%20the%20mill")).toMatchObject({ total_size: 1 });

  function made(of: object): Promise<{ matter: { matter_id: string } }> {
    return browser.json("POST", "/matters", of);
  }
});

test("20 MB go through to the service piece by piece", async () => {
  const matter = await createMatter("Large");
  const call = form(matter);
  call.write(`${part("file", "large.html")}<p>Rent is USD 500.</p><!-- `);
  for (let piece = 0; piece < 20; piece += 1) {
    if (!call.write("x".repeat(MB))) await once(call, "drain");
  }
  call.end(` -->${END}`);
  expect(await answerOf(call)).toMatchObject({ status: 201, body: { document: { filename: "large.html" } } });
});

test("a document is shown, its text in parts, and is deleted", async () => {
  const path = `/matters/${matterId}/documents/${documentId}`;
  expect(await browser.json("GET", path)).toMatchObject({ document: { document_id: documentId } });
  const part = await browser.json("GET", `${path}/text?start=2&max_chars=8`);
  expect(part).toMatchObject({ text: "The rent", start: 2, next_start: 10, truncated: true });
  expect((await browser.fetch("GET", `${path}/text?start=x`)).status).toBe(400);
  expect((await browser.fetch("GET", `${path}/text?start=2&page=1`)).status).toBe(400);
  const search = await browser.json("POST", `/matters/${matterId}/search`, { query: "rent", page_size: 1 });
  expect(search).toMatchObject({ results: [{ document_id: documentId }] });
  const extract = await browser.json("POST", `/matters/${matterId}/extract`, { question: "How much is the rent?" });
  expect(extract).toMatchObject({ question: "How much is the rent?" });
  const classify = await browser.json("POST", `/matters/${matterId}/classify`, { clause_types: ["Governing Law"] });
  expect(classify).toMatchObject({ clause_types_searched: ["Governing Law"] });
});

test("a document's bytes come as they were uploaded, whole, in ranges, and not again", async () => {
  const path = `/matters/${matterId}/documents/${documentId}/content`;
  const bytes = Buffer.from(RENT);
  const whole = await browser.fetch("GET", path);
  expect(Buffer.from(await whole.arrayBuffer())).toEqual(bytes);
  const etag = `"${createHash("sha256").update(bytes).digest("hex")}"`;
  expect(Object.fromEntries(whole.headers)).toMatchObject({
    etag,
    "content-type": "text/plain",
    "content-length": String(bytes.length),
    "accept-ranges": "bytes",
    "content-disposition": `attachment; filename="Mietvertrag f?r ?l?.txt"; filename*=UTF-8''Mietvertrag%20f%C3%BCr%20%C3%9Cl%C3%B6.txt`,
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
    "cache-control": "private, no-cache",
  });
  const ranged = async (range: string, headers: Record<string, string> = {}) => {
    const answer = await browser.fetch("GET", path, undefined, { headers: { Range: range, ...headers } });
    return [answer.status, answer.headers.get("content-range"), Buffer.from(await answer.arrayBuffer()).length];
  };
  const all = bytes.length;
  expect(await ranged("bytes=5-8")).toEqual([206, `bytes 5-8/${all}`, 4]);
  expect(await ranged("bytes=-3")).toEqual([206, `bytes ${all - 3}-${all - 1}/${all}`, 3]);
  expect(await ranged("bytes=5-8", { "If-Range": '"other"' })).toEqual([200, null, all]);
  expect(await ranged("bytes=0-1,4-5")).toEqual([200, null, all]);
  expect((await ranged("bytes=9999-")).slice(0, 2)).toEqual([416, `bytes */${all}`]);
  const again = await browser.fetch("GET", path, undefined, { headers: { "If-None-Match": etag } });
  expect([again.status, await again.text()]).toEqual([304, ""]);
  const head = await browser.fetch("HEAD", path);
  expect([head.status, head.headers.get("content-length")]).toEqual([200, String(all)]);
  const missing = await browser.fetch("GET", path.replace(documentId, matterId));
  expect([missing.status, await missing.json()]).toMatchObject([404, { reason: "DOCUMENT_NOT_FOUND" }]);
});

test("a large document comes whole, at the pace of its browser", async () => {
  const matter = await createMatter("Long");
  const bytes = Buffer.alloc(8 * MB, "The rent is due. ");
  const { document } = (await (await browser.upload(matter, bytes, "long.pdf")).json()) as Uploaded;
  const answer = await browser.fetch("GET", `/matters/${matter}/documents/${document.document_id}/content`);
  expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
});

test("a page without layout says so", async () => {
  const path = `/matters/${matterId}/documents/${documentId}/pages`;
  const refused = await browser.fetch("GET", `${path}/1?start=2&end=8`);
  expect([refused.status, await refused.json()]).toMatchObject([412, { reason: "DOCUMENT_WITHOUT_PAGES" }]);
  expect((await browser.fetch("GET", `${path}/x`)).status).toBe(400);
});

test("a query in IQL streams its documents, and its mistakes are placed in UTF-16", async () => {
  const body = { query: "{IS governing law clause}", explain: true };
  const events = await browser.events("POST", `/matters/${matterId}/iql`, body);
  expect(events.at(-1)).toMatchObject({ event: "summary", data: { summary: { document_count: events.length - 1 } } });
  const [first] = events;
  expect(first).toMatchObject({ event: "document_result", data: { totals: { documents_done: 1 } } });
  expect(first).toMatchObject({
    data: { document_result: { explanation: { type: "IQL_NODE_TYPE_TEMPLATE", score: expect.any(Number) as number } } },
  });
  const refused = await browser.fetch("POST", `/matters/${matterId}/iql`, { query: "{IS" });
  expect([refused.status, (await refused.json()) as object]).toMatchObject([400, { reason: "INVALID_IQL" }]);
  const parsed = await browser.json("POST", "/iql/parse", { query: "{IS governing law clause} AND {😀😀" });
  expect(parsed).toMatchObject({ errors: [{ start: 30, end: 31, start_utf16: 30, end_utf16: 31 }] });
  const edit = { suggestion: 0, start: 33, end: 33, start_utf16: 35, end_utf16: 35, text: "}" };
  expect(parsed).toMatchObject({ errors: [{ edits: [edit] }] });
  const good = await browser.json("POST", "/iql/parse", { query: "{IS governing law clause}" });
  expect(good).toMatchObject({
    tree: { type: "IQL_NODE_TYPE_TEMPLATE", operands: [], start: 0, end: 25 },
    errors: [],
    estimated_model_calls: 0,
  });
  const { templates } = await browser.json<{ templates: { name: string }[] }>("GET", "/iql/templates");
  expect(templates.map(({ name }) => name)).toContain("governing law clause");
});

test("what is no upload is refused, and nothing of it is stored", async () => {
  const matter = await createMatter("Bad uploads");
  const refusals: [string, string, number][] = [
    [BOUNDARY, "no form at all", 400],
    [BOUNDARY, `${part("file", "a.txt")}cut in the mid`, 400],
    [BOUNDARY, `${part("other", "a.txt")}text${END}`, 400],
    [BOUNDARY, `${part("file")}text${END}`, 400],
    [BOUNDARY, `--${BOUNDARY}--\r\n`, 400],
    [BOUNDARY, `${part("file", "a.txt")}one\r\n${part("file", "b.txt")}two${END}`, 400],
    ["", `${part("file", "a.txt")}text${END}`, 400],
  ];
  for (const [boundary, body, status] of refusals) {
    const type = boundary === "" ? "multipart/form-data" : `multipart/form-data; boundary=${boundary}`;
    const call = form(matter, { "Content-Type": type });
    call.end(body);
    expect(await answerOf(call), body).toMatchObject({
      status,
      body: { status, detail: expect.any(String) as string },
    });
  }
  const json = await browser.fetch("POST", `/matters/${matter}/documents`, { file: "text" });
  expect(json.status).toBe(415);
  expect(await documentsOf(matter)).toEqual([]);
});

test("a file over the limit is refused, told of beforehand or not", async () => {
  const matter = await createMatter("Too large");
  const told = form(matter, { "Content-Length": String(40 * MB) });
  told.write(part("file", "a.txt"));
  expect(await answerOf(told)).toMatchObject({ status: 413, body: { status: 413 } });
  told.destroy();
  const untold = form(matter);
  untold.write(part("file", "a.txt"));
  const answer = answerOf(untold);
  for (let piece = 0; piece < 33; piece += 1) untold.write("x".repeat(MB));
  untold.end(END);
  expect(await answer).toMatchObject({ status: 413 });
  expect(await documentsOf(matter)).toEqual([]);
});

test("a refusal of the service is told while the file still comes", async () => {
  const call = form("00000000-0000-4000-8000-000000000000");
  call.write(part("file", "a.txt"));
  call.write("text");
  expect(await answerOf(call)).toMatchObject({ status: 404, body: { reason: "MATTER_NOT_FOUND" } });
  call.destroy();
});

test("an upload that is broken off is not stored", async () => {
  const matter = await createMatter("Broken off");
  const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
  const head = `POST /matters/${matter}/documents HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n`;
  socket.write(`${head}Content-Type: multipart/form-data; boundary=${BOUNDARY}\r\n\r\n${part("file", "a.txt")}text`);
  await once(socket, "ready");
  socket.destroySoon();
  await once(socket, "close");
  const whole = await browser.upload(matter, "whole", "whole.txt");
  expect(whole.status).toBe(201);
  await vi.waitFor(async () => {
    expect(await documentsOf(matter)).toMatchObject([{ filename: "whole.txt" }]);
  }, PATIENT);
});

test("documents and matters are deleted", async () => {
  const matter = await createMatter("Deleted");
  const { document } = (await (await browser.upload(matter, "text", "a.txt")).json()) as Uploaded;
  const path = `/matters/${matter}/documents/${document.document_id}`;
  expect((await browser.fetch("DELETE", path)).status).toBe(204);
  expect((await browser.fetch("GET", path)).status).toBe(404);
  expect((await browser.fetch("DELETE", `/matters/${matter}`)).status).toBe(204);
  expect((await browser.fetch("GET", `/matters/${matter}`)).status).toBe(404);
  const { matters } = await browser.json<{ matters: { name: string }[] }>("GET", "/matters?name=Leases&page_size=5");
  expect(matters.map(({ name }) => name)).toEqual(["Leases"]);
});
