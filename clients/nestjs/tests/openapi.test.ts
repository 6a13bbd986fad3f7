import { readFileSync } from "node:fs";
import SwaggerParser from "@apidevtools/swagger-parser";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Browser } from "./support/browser.js";
import { gatewayOf } from "./support/gateway.js";
import type { TestGateway } from "./support/gateway.js";

interface Operation {
  summary?: string;
  parameters: { name: string; in: string }[];
  requestBody?: { content: Record<string, { schema: object }> };
  responses: Record<string, { content?: Record<string, { schema: object }> }>;
}

type Document = Parameters<typeof SwaggerParser.validate>[0] & {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, { properties?: Record<string, object> }> };
};

let gateway: TestGateway;
let document: Document;

beforeAll(async () => {
  gateway = await gatewayOf("127.0.0.1:1");
  document = await new Browser(gateway.url).json<Document>("GET", "/openapi.json");
});

afterAll(async () => {
  await gateway.close();
});

/** The routes that HTTP.md names: in the first column of its tables, and in the text on the catalog and on health. */
function documentedRoutes(): string[] {
  const text = readFileSync(new URL("../HTTP.md", import.meta.url), "utf8");
  const spoken = text.slice(text.indexOf("## Catalog"));
  const cells = text.split("\n").flatMap((line) => (line.startsWith("| `") ? [line.split("|")[1] ?? ""] : []));
  return [...cells, ...(spoken.match(/`GET \/[^`]+`/g) ?? [])].flatMap(routesIn).sort();
}

/** "`GET`, `DELETE /a/{b}`" and "`POST /a/b`, `/c`", where /c stands in for /b. */
function routesIn(cell: string): string[] {
  const routes: string[] = [];
  let methods: string[] = [];
  let path = "";
  for (const [word] of cell.matchAll(/\b(GET|POST|PUT|PATCH|DELETE)\b|\/[\w/{}-]*/g)) {
    if (!word.startsWith("/")) {
      methods = path === "" ? [...methods, word] : [word];
      path = "";
      continue;
    }
    path = path === "" ? word : `${path.slice(0, path.lastIndexOf("/"))}${word}`;
    routes.push(...methods.map((method) => `${method} ${path}`));
  }
  return routes;
}

function describedRoutes(): string[] {
  return Object.entries(document.paths)
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
    .sort();
}

test("the description is valid OpenAPI", async () => {
  await SwaggerParser.validate(structuredClone(document));
});

test("it has every route of HTTP.md, and HTTP.md has every route of it", () => {
  expect(describedRoutes()).toEqual(documentedRoutes());
  expect(describedRoutes().length).toBeGreaterThan(35);
});

test("every route says what it does, what it takes and what it answers", () => {
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const route = `${method} ${path}`;
      expect(operation.summary, route).toMatch(/^[A-Z].*\.$/);
      const inPath = operation.parameters.filter((parameter) => parameter.in === "path").map(({ name }) => `{${name}}`);
      expect(inPath.sort(), route).toEqual((path.match(/\{\w+\}/g) ?? []).sort());
      expect(operation.responses.default?.content, route).toHaveProperty(["application/problem+json"]);
      const good = Object.entries(operation.responses).filter(([status]) => status.startsWith("2"));
      expect(good.length, route).toBeGreaterThan(0);
      for (const [status, { content }] of good) expect(content === undefined, route).toBe(status === "204");
    }
  }
});

test("schemas have the names that the gateway gives", () => {
  const { schemas } = document.components;
  expect(schemas.ToolEnd?.properties).toHaveProperty("duration_ms");
  expect(schemas.Citation?.properties).toHaveProperty("answer_utf16");
  expect(Object.keys(schemas.ParseIqlResponse?.properties ?? {})).toContain("tree");
  const names = Object.values(schemas).flatMap(({ properties }) => Object.keys(properties ?? {}));
  expect(names.filter((name) => /[A-Z]/.test(name))).toEqual([]);
});

test("Swagger UI lists every route, from the gateway alone", async () => {
  const browser = new Browser(gateway.url);
  for (const page of ["/docs", "/docs/"]) {
    const response = await browser.fetch("GET", page);
    const html = await response.text();
    expect(response.headers.get("content-security-policy")).toContain("default-src 'self'; ");
    const assets = Array.from(html.matchAll(/(?:src|href)="([^"]+)"/g), ([, path]) => path ?? "");
    expect(assets.length).toBeGreaterThan(4);
    for (const asset of assets) {
      const { origin, pathname } = new URL(asset, `${gateway.url}${page}`);
      expect(origin).toBe(gateway.url);
      expect((await browser.fetch("GET", pathname)).status, pathname).toBe(200);
    }
  }
  const start = await (await browser.fetch("GET", "/docs/swagger-ui-init.js")).text();
  for (const path of Object.keys(document.paths)) expect(start).toContain(`"${path}"`);
});

test("no other page may have styles of its own, and Swagger UI can be switched off", async () => {
  const policy = (await new Browser(gateway.url).fetch("GET", "/openapi.json")).headers.get("content-security-policy");
  expect(policy).not.toContain("unsafe");
  const without = await gatewayOf("127.0.0.1:1", { docs: false });
  const browser = new Browser(without.url);
  expect((await browser.fetch("GET", "/docs")).status).toBe(404);
  expect((await browser.fetch("GET", "/docs/swagger-ui.css")).status).toBe(404);
  expect((await browser.fetch("GET", "/openapi.json")).status).toBe(200);
  await without.close();
});
