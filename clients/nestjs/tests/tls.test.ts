import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { sendUnaryData } from "@grpc/grpc-js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SettingsError, readSettings } from "../src/settings.js";
import { Browser } from "./support/browser.js";
import { selfSigned } from "./support/certificate.js";
import { gatewayOf } from "./support/gateway.js";
import { WireServer } from "./support/wire-server.js";

const certificate = selfSigned("localhost");
const AWAY = { status: 503, body: { detail: expect.stringContaining("cannot be reached") as string } };
const folder = mkdtempSync(join(tmpdir(), "proviso-tls-"));
let server: WireServer;
let service: string;

function listMatters(_call: unknown, answer: sendUnaryData<object>): void {
  answer(null, { matters: [{ matterId: "m", name: "Leases" }] });
}

/** A server by the name that a certificate can have. */
function named({ url }: WireServer): string {
  return url.replace("127.0.0.1", "localhost");
}

beforeAll(async () => {
  server = await WireServer.start({ MatterService: { listMatters } }, certificate);
  service = named(server);
});

afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

function file(name: string, content: Buffer | string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** The answer to a list of matters through a gateway with these variables. */
async function answer(
  variables: Record<string, string>,
  url = service,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: object }> {
  const { tls, tlsCa, clientCertificate } = readSettings(variables);
  const gateway = await gatewayOf(url, { tls, tlsCa, clientCertificate });
  const response = await new Browser(gateway.url).fetch("GET", "/matters", undefined, { headers });
  const body = (await response.json()) as object;
  await gateway.close();
  return { status: response.status, body };
}

test("a service with TLS is reached where its certificate is vouched for", async () => {
  const variables = { PROVISO_GATEWAY_TLS_CA: file("ca.pem", certificate.cert) };
  expect(await answer(variables)).toMatchObject({ status: 200, body: { matters: [{ name: "Leases" }] } });
});

test("a service is not reached whose certificate nobody vouches for", async () => {
  expect(await answer({ PROVISO_GATEWAY_TLS: "true" })).toMatchObject(AWAY);
  const another = file("another.pem", selfSigned("localhost").cert);
  expect(await answer({ PROVISO_GATEWAY_TLS_CA: another })).toMatchObject(AWAY);
});

test("a service is not reached whose certificate is for another name", async () => {
  const elsewhere = selfSigned("elsewhere.example");
  const other = await WireServer.start({ MatterService: { listMatters } }, elsewhere);
  const variables = { PROVISO_GATEWAY_TLS_CA: file("elsewhere.pem", elsewhere.cert) };
  expect(await answer(variables, named(other))).toMatchObject(AWAY);
  other.close();
});

test("nothing is sent in the clear to a service with TLS, nor the other way round", async () => {
  expect(await answer({})).toMatchObject(AWAY);
  const clear = await WireServer.start({ MatterService: { listMatters } });
  const variables = { PROVISO_GATEWAY_TLS_CA: file("ca.pem", certificate.cert) };
  expect(await answer(variables, named(clear))).toMatchObject(AWAY);
  clear.close();
});

test("a service that asks for client certificates is shown the gateway's, by which nobody else is known", async () => {
  const client = selfSigned("gateway.example");
  const asking = await WireServer.start({ MatterService: { listMatters } }, certificate, client);
  const ca = { PROVISO_GATEWAY_TLS_CA: file("ca.pem", certificate.cert) };
  const shown = {
    ...ca,
    PROVISO_GATEWAY_TLS_CERT: file("client.pem", client.cert),
    PROVISO_GATEWAY_TLS_KEY: file("client.key", client.key),
  };
  const token = { Authorization: "Bearer a.b.c" };
  expect(await answer(shown, named(asking), token)).toMatchObject({
    status: 200,
    body: { matters: [{ name: "Leases" }] },
  });
  expect(await answer(ca, named(asking), token)).toMatchObject(AWAY);
  // The service would know a call without a token by the certificate, and have it act for whomever it names.
  for (const headers of [{}, { "X-User-Id": "ada" }] as Record<string, string>[])
    expect(await answer(shown, named(asking), headers)).toMatchObject({ status: 401 });
  asking.close();
});

test("a key that is not the certificate's is told by the name of its variable", () => {
  const variables = {
    PROVISO_GATEWAY_TLS_CERT: file("client.pem", certificate.cert),
    PROVISO_GATEWAY_TLS_KEY: file("other.key", selfSigned("localhost").key),
  };
  expect(() => readSettings(variables)).toThrow(/TLS_KEY: is not the key of the certificate/);
  expect(() => readSettings({ PROVISO_GATEWAY_TLS_CERT: file("client.pem", certificate.cert) })).toThrow(
    /TLS_CERT: needs PROVISO_GATEWAY_TLS_KEY too/,
  );
});

test("a certificate is read whatever the length of its text, also one that fills its last line", () => {
  for (let length = 1; length <= 48; length += 1) {
    const { cert } = selfSigned("h".repeat(length));
    expect(readSettings({ PROVISO_GATEWAY_TLS_CA: file("long.pem", cert) }).tlsCa).toEqual(cert);
  }
});

test("a file that holds no certificate is told by the name of its variable", () => {
  const broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  const { raw } = new X509Certificate(certificate.cert);
  for (const content of ["", "no certificate", broken, raw]) {
    const read = (): unknown => readSettings({ PROVISO_GATEWAY_TLS_CA: file("empty.pem", content) });
    expect(read).toThrow(SettingsError);
    expect(read).toThrow(/TLS_CA: the file .* holds no certificate/);
  }
});
