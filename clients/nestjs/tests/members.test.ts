import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { selfSigned } from "./support/certificate.js";
import { gatewayOf } from "./support/gateway.js";
import type { TestGateway } from "./support/gateway.js";
import { Service } from "./support/service.js";

const folder = mkdtempSync(join(tmpdir(), "proviso-members-"));
const { cert, key } = selfSigned("localhost");
let service: Service;
let gateway: TestGateway;
let ada: string;
let bob: string;
let acting: string;

beforeAll(async () => {
  const files = { tls_cert: join(folder, "cert.pem"), tls_key: join(folder, "key.pem") };
  writeFileSync(files.tls_cert, cert);
  writeFileSync(files.tls_key, key);
  service = new Service({ server: files, auth: { api_keys: true } });
  await service.start();
  [ada, bob] = [service.key("ada"), service.key("bob")];
  acting = service.key("back-end", "act_for_users");
  gateway = await gatewayOf(`localhost:${service.port}`, { tls: true, tlsCa: cert });
});

afterAll(async () => {
  await gateway.close();
  await service.remove();
  rmSync(folder, { recursive: true });
});

interface Answer {
  status: number;
  body: Record<string, unknown>;
}

async function asked(
  token: string,
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(gateway.url + path, {
    method,
    headers: {
      ...(token && { Authorization: `Bearer ${token}` }),
      ...(body && { "Content-Type": "application/json" }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text ? (JSON.parse(text) as Record<string, unknown>) : {} };
}

test("the service is told who asks, and tells whom it takes him for", async () => {
  expect(await asked(ada, "GET", "/caller")).toMatchObject({
    status: 200,
    body: { tenant: "acme", user_id: "ada", authenticated: true },
  });
  expect(await asked(acting, "GET", "/caller", undefined, { "X-User-Id": "carol" })).toMatchObject({
    body: { user_id: "carol", roles: ["CALLER_ROLE_ACT_FOR_USERS"] },
  });
  expect(await asked(ada, "GET", "/caller", undefined, { "X-User-Id": "carol" })).toMatchObject({ status: 403 });
});

test("without a credential, or with a bad one, nothing is answered", async () => {
  for (const token of ["", "pvk_old"]) {
    for (const path of ["/caller", "/matters", "/sessions", "/catalog/items"]) {
      expect(await asked(token, "GET", path), path).toMatchObject({ status: 401, body: { reason: "UNAUTHENTICATED" } });
    }
  }
});

test("an owner manages the members of a matter, another member does not", async () => {
  const made = await asked(ada, "POST", "/matters", { name: "Lease" });
  const matter = made.body.matter as { matter_id: string; role: string };
  expect(matter.role).toBe("MATTER_ROLE_OWNER");
  const members = `/matters/${matter.matter_id}/members`;
  expect(await asked(bob, "GET", members)).toMatchObject({ status: 404 });
  expect(await asked(ada, "PUT", `${members}/bob`, { role: "MATTER_ROLE_READER" })).toMatchObject({
    status: 200,
    body: { member: { user_id: "bob", role: "MATTER_ROLE_READER" } },
  });
  expect(await asked(bob, "GET", members)).toMatchObject({
    body: { members: [{ user_id: "ada" }, { user_id: "bob" }] },
  });
  expect(await asked(bob, "PUT", `${members}/bob`, { role: "MATTER_ROLE_OWNER" })).toMatchObject({
    status: 403,
    body: { reason: "PERMISSION_DENIED" },
  });
  expect(await asked(ada, "DELETE", `${members}/ada`)).toMatchObject({ status: 412, body: { reason: "LAST_OWNER" } });
  expect(await asked(ada, "PUT", `${members}/bob`, { role: "KING" })).toMatchObject({ status: 400 });
  expect((await asked(ada, "DELETE", `${members}/bob`)).status).toBe(204);
  expect(await asked(bob, "GET", members)).toMatchObject({ status: 404 });
});
