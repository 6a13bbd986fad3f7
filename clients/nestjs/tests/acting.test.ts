import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SignJWT, UnsecuredJWT, exportJWK, generateKeyPair } from "jose";
import type { JWTPayload } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { gatewayOf } from "./support/gateway.js";
import type { TestGateway } from "./support/gateway.js";
import { Person } from "./support/person.js";
import { AUDIENCE, SECRET, TestProvider } from "./support/provider.js";
import { Service } from "./support/service.js";

const PUBLIC = "https://proviso.example";
const folder = mkdtempSync(join(tmpdir(), "proviso-acting-"));
const keyFile = join(folder, "key");
const pair = await generateKeyPair("ES256");
const other = await generateKeyPair("ES256");
let issuer: string;
let keys: Server;
let service: Service;
let gateway: TestGateway;
/** It takes the place of the gateway's key. */
let nextKey: string;

/** The description and the keys of a provider, of which a test makes the tokens itself. */
async function keyServer(): Promise<Server> {
  const jwk = { ...(await exportJWK(pair.publicKey)), kid: "k", alg: "ES256", use: "sig" };
  const server = createServer((request, response) => {
    const about = { issuer, jwks_uri: `${issuer}/jwks` };
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify(request.url === "/jwks" ? { keys: [jwk] } : about));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return server;
}

beforeAll(async () => {
  keys = await keyServer();
  service = new Service({ auth: { api_keys: true } });
  await service.start();
  const key = service.key("gateway", "act_for_users", "auditor");
  nextKey = service.key("gateway", "act_for_users");
  writeFileSync(keyFile, `${key}\n`);
  gateway = await gatewayOf(service.url, { acting: { issuer: new URL(issuer), audience: AUDIENCE, keyFile } });
});

afterAll(async () => {
  await gateway.close();
  await service.remove();
  keys.close();
  rmSync(folder, { recursive: true });
});

function usual(claims: JWTPayload = {}): JWTPayload {
  return { iss: issuer, aud: AUDIENCE, sub: "ada", exp: Math.floor(Date.now() / 1000) + 300, ...claims };
}

function token(claims: JWTPayload = {}, key = pair.privateKey): Promise<string> {
  return new SignJWT(usual(claims)).setProtectedHeader({ alg: "ES256", kid: "k" }).sign(key);
}

async function asked(
  authorization: string,
  path = "/caller",
  init: RequestInit = {},
): Promise<Record<string, unknown>> {
  const headers = {
    ...(authorization && { Authorization: authorization }),
    ...(init.headers as Record<string, string>),
  };
  const response = await fetch(gateway.url + path, { ...init, headers });
  return { ...((await response.json()) as object), status: response.status };
}

test("the service is told the person of a valid token, who has none of the gateway's own roles", async () => {
  expect(await asked(`Bearer ${await token()}`)).toEqual({
    status: 200,
    tenant: "acme",
    user_id: "ada",
    roles: ["CALLER_ROLE_ACT_FOR_USERS"],
    authenticated: true,
  });
  expect(await asked(`Bearer ${await token({ sub: "bob" })}`)).toMatchObject({ user_id: "bob" });
});

test("a token that is not valid, or is none, is no person's", async () => {
  const past = Math.floor(Date.now() / 1000) - 60;
  const shared = new TextEncoder().encode(JSON.stringify(await exportJWK(pair.publicKey)));
  const bad = {
    "of another key": await token({}, other.privateKey),
    expired: await token({ exp: past }),
    "without an end": await token({ exp: undefined }),
    "of another issuer": await token({ iss: "https://other.example" }),
    "for another service": await token({ aud: "another" }),
    "without a person": await token({ sub: undefined }),
    "of an empty person": await token({ sub: "" }),
    "of a person with blanks around": await token({ sub: " ada " }),
    unsigned: new UnsecuredJWT(usual()).encode(),
    "signed with the public key": await new SignJWT(usual())
      .setProtectedHeader({ alg: "HS256", kid: "k" })
      .sign(shared),
    "an API key": nextKey,
  };
  for (const [what, text] of Object.entries(bad))
    expect(await asked(`Bearer ${text}`), what).toMatchObject({ status: 401, reason: "UNAUTHENTICATED" });
  for (const text of ["", "Basic YTpi", "Bearer", `Bearer ${await token()} x`])
    expect(await asked(text), text).toMatchObject({ status: 401 });
});

test("nothing but the token names the person", async () => {
  const ada = `Bearer ${await token()}`;
  const named = (headers: Record<string, string>): RequestInit => ({ headers });
  expect(await asked(ada, "/caller", named({ "X-User-Id": "bob" }))).toMatchObject({ status: 403 });
  expect(await asked("", "/caller", named({ "X-User-Id": "bob" }))).toMatchObject({ status: 401 });
  expect(await asked(ada, "/sessions?user_id=bob")).toMatchObject({ status: 403, reason: "PERMISSION_DENIED" });
  expect(await asked(ada, "/sessions?user_id=bob&user_id=ada")).toMatchObject({ status: 403 });
  const body = (user_id: string): RequestInit => ({
    method: "POST",
    body: JSON.stringify({ session_id: "s", user_id }),
    headers: { "Content-Type": "application/json" },
  });
  expect(await asked(ada, "/sessions", body("bob"))).toMatchObject({ status: 403 });
  expect(await asked(ada, "/sessions", body("ada"))).toMatchObject({ status: 201 });
});

test("another key takes the place of the first one without a restart", async () => {
  const ada = `Bearer ${await token()}`;
  writeFileSync(keyFile, "pvk_revoked");
  expect(await asked(ada)).toMatchObject({ status: 401 });
  writeFileSync(keyFile, nextKey);
  expect(await asked(ada)).toMatchObject({ user_id: "ada" });
});

test("whoever has signed in is the person that the gateway acts for", async () => {
  const provider = await TestProvider.start(PUBLIC);
  const at = { issuer: new URL(provider.issuer) };
  const client = { clientId: "gateway", clientSecret: SECRET, scope: "openid profile", resource: AUDIENCE };
  const withPage = await gatewayOf(service.url, {
    signIn: { ...at, ...client, publicUrl: new URL(PUBLIC) },
    acting: { ...at, audience: AUDIENCE, keyFile },
  });
  const ada = new Person(withPage.url, PUBLIC);
  expect(await ada.json("/caller")).toMatchObject({ status: 401 });
  await ada.signIn("ada");
  expect(await ada.json("/caller")).toMatchObject({ user_id: "ada" });
  expect(await ada.json("/caller", { headers: { "X-User-Id": "bob" } })).toMatchObject({ status: 403 });
  await withPage.close();
  await provider.close();
});

test("while the provider's keys cannot be read nobody is let in, and the answer says why", async () => {
  const away = { issuer: new URL("http://127.0.0.1:1"), audience: AUDIENCE, keyFile };
  const without = await gatewayOf(service.url, { acting: away });
  const response = await fetch(`${without.url}/caller`, { headers: { Authorization: `Bearer ${await token()}` } });
  expect(response.status).toBe(503);
  await without.close();
});
