import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { gatewayOf } from "./support/gateway.js";
import type { TestGateway } from "./support/gateway.js";

const OTHER = "https://other.example";
const ALLOWED = "https://allowed.example";
const pageDir = mkdtempSync(join(tmpdir(), "proviso-page-"));
let gateway: TestGateway;

beforeAll(async () => {
  mkdirSync(join(pageDir, "assets"));
  writeFileSync(join(pageDir, "index.html"), "<title>Proviso</title>");
  writeFileSync(join(pageDir, "assets", "index-1a2b.js"), "export {};");
  gateway = await gatewayOf("127.0.0.1:1", { pageDir, allowedOrigins: [ALLOWED], allowedHosts: ["Gateway.example"] });
});

afterAll(async () => {
  await gateway.close();
  rmSync(pageDir, { recursive: true });
});

/** A request with headers that fetch does not let a caller set. */
async function asked(path: string, headers: Record<string, string>, method = "GET"): Promise<IncomingMessage> {
  const call = request(`${gateway.url}${path}`, { method, headers, agent: false });
  call.end();
  const [response] = (await once(call, "response")) as [IncomingMessage];
  return response.resume();
}

test("a host name that is not the gateway's is refused: another site's cannot be pointed at it", async () => {
  const port = new URL(gateway.url).port;
  for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, "gateway.example"]) {
    expect((await asked("/healthz", { Host: host })).statusCode, host).toBe(200);
  }
  for (const host of ["rebound.example", `localhost.rebound.example:${port}`, "127.0.0.1.rebound.example"]) {
    const refused = await asked("/healthz", { Host: host });
    expect([refused.statusCode, refused.headers["content-type"]], host).toEqual([
      403,
      "application/problem+json; charset=utf-8",
    ]);
  }
});

test("pages of other sites cannot call it, not even to change something unseen", async () => {
  for (const origin of [OTHER, "null", "http://localhost:1"]) {
    const refused = await asked("/matters/m/documents", { Origin: origin }, "POST");
    expect([refused.statusCode, refused.headers["access-control-allow-origin"]], origin).toEqual([403, undefined]);
  }
  expect((await asked("/healthz", { Origin: gateway.url })).statusCode).toBe(200);
});

test("pages of the allowed origins can", async () => {
  const answer = await asked("/healthz", { Origin: ALLOWED });
  expect([answer.statusCode, answer.headers["access-control-allow-origin"]]).toEqual([200, ALLOWED]);
  expect(answer.headers["access-control-expose-headers"]).toContain("Proviso-Turn-Id");
  const preflight = await asked("/chat", { Origin: ALLOWED, "Access-Control-Request-Method": "POST" }, "OPTIONS");
  expect(preflight.statusCode).toBe(204);
  expect(preflight.headers["access-control-allow-headers"]).toContain("Last-Event-ID");
});

test("every answer keeps the page to its own origin, and no answer of a route is stored", async () => {
  for (const path of ["/healthz", "/nowhere", "/"]) {
    const { headers } = await asked(path, {});
    expect(headers["content-security-policy"], path).toContain("default-src 'self'");
    expect(headers["content-security-policy"], path).not.toMatch(/data:|unsafe-/);
    expect(headers["x-content-type-options"], path).toBe("nosniff");
    expect(headers["x-powered-by"], path).toBeUndefined();
  }
  expect((await asked("/healthz", {})).headers["cache-control"]).toBe("no-store");
});

test("the page is served: files whose names change with their contents for good, the others to be asked for again", async () => {
  const page = await asked("/", {});
  expect([page.statusCode, page.headers["cache-control"]]).toEqual([200, "no-cache"]);
  const asset = await asked("/assets/index-1a2b.js", {});
  expect(asset.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
  expect(asset.headers["content-type"]).toMatch(/javascript/);
  for (const path of ["/assets/missing.js", "/../package.json", "/%2e%2e/package.json"]) {
    expect((await asked(path, {})).statusCode, path).toBe(404);
  }
});
