import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { gatewayOf } from "./support/gateway.js";
import type { TestGateway } from "./support/gateway.js";
import { Person, location } from "./support/person.js";
import { AUDIENCE, SECRET, TestProvider } from "./support/provider.js";
import { Service } from "./support/service.js";
import { PATIENT } from "./support/waiting.js";

const PUBLIC = "https://proviso.example";
const FAILED = "/?sign_in=failed";

let provider: TestProvider;
let service: Service;
let gateway: TestGateway;
/** Its access tokens last two seconds. */
let brief: TestGateway;

function gatewayOfClient(clientId: string, publicUrl = PUBLIC): Promise<TestGateway> {
  const client = { clientId, clientSecret: SECRET, scope: "openid profile", resource: AUDIENCE };
  const signIn = { ...client, issuer: new URL(provider.issuer), publicUrl: new URL(publicUrl) };
  return gatewayOf(service.url, { signIn });
}

beforeAll(async () => {
  provider = await TestProvider.start(PUBLIC, "auditor");
  service = new Service({ auth: provider.auth });
  await service.start();
  [gateway, brief] = await Promise.all([gatewayOfClient("gateway"), gatewayOfClient("brief")]);
});

afterAll(async () => {
  for (const each of [gateway, brief]) await each.close();
  await service.remove();
  await provider.close();
});

function personOf({ url }: TestGateway): Person {
  return new Person(url, PUBLIC);
}

async function isSignedIn(person: Person): Promise<unknown> {
  return (await person.json("/account")).signed_in;
}

test("whoever has signed in is known to the service, and comes back to where he was", async () => {
  const ada = personOf(gateway);
  expect(await ada.json("/account")).toEqual({ sign_in: true, signed_in: false });
  expect(await ada.json("/caller")).toMatchObject({ status: 401, reason: "UNAUTHENTICATED" });
  const place = "#/chat/s-1?matter=m&document=d";
  const back = await ada.signIn("ada", `?return_to=${encodeURIComponent(place)}`);
  expect([back.status, location(back)]).toEqual([303, `/${place}`]);
  expect(await ada.json("/account")).toEqual({ sign_in: true, signed_in: true, name: "The person ada" });
  expect(await ada.json("/caller")).toMatchObject({
    tenant: "acme",
    user_id: "ada",
    roles: ["CALLER_ROLE_AUDITOR"],
    authenticated: true,
  });
  const bob = personOf(gateway);
  await bob.signIn("bob");
  expect([(await ada.json("/caller")).user_id, (await bob.json("/caller")).user_id]).toEqual(["ada", "bob"]);
});

test("a browser has an id of its session and no token, in cookies that nobody else gets", async () => {
  const ada = personOf(gateway);
  const start = await ada.begin();
  expect(start.searchParams.get("code_challenge_method")).toBe("S256");
  await ada.go(await ada.atProvider(start, "ada"));
  const ours = ada.set.filter((cookie) => cookie.startsWith("__Host-"));
  expect(ours).toHaveLength(3);
  const [underWay = "", over = "", session = ""] = ours;
  expect(underWay).toMatch(
    /^__Host-proviso-sign-in=[^;]+; Max-Age=600; Path=\/; Expires=[^;]+; HttpOnly; Secure; SameSite=Lax$/,
  );
  expect(over).toMatch(/^__Host-proviso-sign-in=; Path=\/; Expires=Thu, 01 Jan 1970/);
  expect(session).toMatch(/^__Host-proviso=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict$/);
  const local = await gatewayOfClient("gateway", "http://127.0.0.1:8080");
  const cookie = (await fetch(`${local.url}/sign-in`, { redirect: "manual" })).headers.get("set-cookie");
  expect(cookie).toMatch(/^proviso-sign-in=.*; HttpOnly; SameSite=Lax$/);
  await local.close();
});

test("a way back that this browser has not begun, or that was begun otherwise, signs nobody in", async () => {
  const changed = { state: "another", nonce: "another", code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" };
  for (const [name, value] of Object.entries(changed)) {
    const person = personOf(gateway);
    const start = await person.begin();
    start.searchParams.set(name, value);
    expect(location(await person.go(await person.atProvider(start, "ada"))), name).toBe(FAILED);
    expect(await isSignedIn(person), name).toBe(false);
  }
  const ada = personOf(gateway);
  const back = await ada.atProvider(await ada.begin(), "ada");
  const victim = personOf(gateway);
  expect(location(await victim.go(back))).toBe(FAILED);
  await victim.begin();
  expect(location(await victim.go(back))).toBe(FAILED);
  expect(await isSignedIn(victim)).toBe(false);
  expect(location(await ada.go(`/sign-in/callback?error=access_denied&state=x`))).toBe(FAILED);
  const issuer = new URL(back);
  issuer.searchParams.set("iss", "https://other.example");
  await ada.begin();
  expect(location(await ada.go(issuer.href))).toBe(FAILED);
});

test("a sign-in leads back into the page and nowhere else", async () => {
  const person = personOf(gateway);
  for (const place of [
    "https://other.example",
    "//other.example",
    "/other",
    "javascript:alert(1)",
    "#/a\r\nb",
    "#/ü",
  ]) {
    const response = await person.go(`/sign-in?return_to=${encodeURIComponent(place)}`);
    expect([response.status, response.headers.get("set-cookie")], place).toEqual([400, null]);
  }
});

test("a token is replaced before its end, once for all calls that come then", async () => {
  const ada = personOf(brief);
  await ada.signIn("ada");
  const before = provider.grants.length;
  await vi.waitFor(async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => ada.json("/caller")));
    expect(answers.map(({ user_id }) => user_id)).toEqual(Array.from({ length: 8 }, () => "ada"));
    expect(provider.grants.slice(before)).toContain("refresh_token");
  }, PATIENT);
  // A refresh token that is used twice would have ended the session.
  expect(new Set(provider.grants.slice(before))).toEqual(new Set(["refresh_token"]));
  expect(await isSignedIn(ada)).toBe(true);
});

test("a session that the provider does not renew ends, and so does one whose person signs out", async () => {
  const eve = personOf(gateway);
  await eve.signIn("eve");
  const out = await eve.go("/sign-out", { method: "POST" });
  const { end_session_url: url } = (await out.json()) as { end_session_url: string };
  expect(url).toContain(`${provider.issuer}/session/end?`);
  expect(url).not.toContain("id_token_hint");
  expect((await eve.go(url)).status).toBe(200);
  await vi.waitFor(() => {
    expect(provider.grants.at(-1)).toBe("revoked");
  }, PATIENT);
  expect(await eve.json("/caller")).toMatchObject({ status: 401 });

  const cy = personOf(brief);
  await cy.signIn("cy");
  provider.forget("cy");
  await vi.waitFor(async () => {
    expect(await cy.json("/caller")).toMatchObject({ status: 401, reason: "UNAUTHENTICATED" });
  }, PATIENT);
  expect(await cy.json("/account")).toEqual({ sign_in: true, signed_in: false });
});

test("a caller who shows a credential is known by that, and not by a session", async () => {
  const ada = personOf(gateway);
  await ada.signIn("ada");
  expect(await ada.json("/caller", { headers: { Authorization: "Bearer pvk_unknown" } })).toMatchObject({
    status: 401,
  });
});

test("without settings there is no sign-in", async () => {
  const without = await gatewayOf("127.0.0.1:1");
  const person = new Person(without.url, without.url);
  expect(await person.json("/account")).toEqual({ sign_in: false, signed_in: false });
  for (const [path, method] of [
    ["/sign-in", "GET"],
    ["/sign-in/callback", "GET"],
    ["/sign-out", "POST"],
  ] as const)
    expect((await person.go(path, { method })).status, path).toBe(404);
  await without.close();
});

test("while the provider is away nobody signs in, and a session waits for it when its token has ended", async () => {
  const bob = personOf(brief);
  await bob.signIn("bob");
  await provider.close();
  await vi.waitFor(async () => {
    expect(await bob.json("/caller")).toMatchObject({ status: 503 });
  }, PATIENT);
  const later = await gatewayOfClient("gateway");
  expect(await personOf(later).json("/sign-in")).toMatchObject({ status: 503 });
  await later.close();
});
