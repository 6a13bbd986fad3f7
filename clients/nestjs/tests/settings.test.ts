import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readSettings } from "../src/settings.js";

test("without variables it listens on loopback and looks for the service there", () => {
  expect(readSettings({ HOME: "/root" })).toMatchObject({
    host: "127.0.0.1",
    port: 8080,
    service: "localhost:50051",
    tls: false,
    allowedOrigins: [],
    callTimeoutMs: 30_000,
  });
});

test("variables are read", () => {
  const read = readSettings({
    PROVISO_GATEWAY_PORT: "80",
    PROVISO_GATEWAY_SERVICE: "[::1]:50051",
    PROVISO_GATEWAY_TLS: "true",
    PROVISO_GATEWAY_ALLOWED_ORIGINS: "https://a.example, https://b.example",
    PROVISO_GATEWAY_STALL_S: "2.5",
    PROVISO_GATEWAY_HOST: "",
  });
  expect(read).toMatchObject({ port: 80, service: "[::1]:50051", tls: true, stallMs: 2500, host: "127.0.0.1" });
  expect(read.allowedOrigins).toEqual(["https://a.example", "https://b.example"]);
});

test("every fault is told by the name of its variable", () => {
  const faulty = {
    PROVISO_GATEWAY_PORT: "eighty",
    PROVISO_GATEWAY_SERVICE: "nowhere",
    PROVISO_GATEWAY_TLS_CA: "/no/such/file.pem",
    PROVISO_GATEWAY_ALLOWED_ORIGINS: "https://a.example/path",
    PROVISO_GATEWAY_STALL_S: "45",
    PROVISO_GATEWAY_PROT: "1",
  };
  expect(() => readSettings(faulty)).toThrow(
    /PORT: .*\n.*SERVICE: must be a host.*\n.*TLS_CA: the file .* cannot be read/s,
  );
  expect(() => readSettings(faulty)).toThrow(/STALL_S: must be below 45/);
  expect(() => readSettings(faulty)).toThrow(/ALLOWED_ORIGINS: must be origins/);
  expect(() => readSettings(faulty)).toThrow(/PROVISO_GATEWAY_PROT is not a setting/);
});

const SIGN_IN = {
  PROVISO_GATEWAY_TLS: "true",
  PROVISO_GATEWAY_OIDC_ISSUER: "https://login.example/realm",
  PROVISO_GATEWAY_OIDC_CLIENT_ID: "gateway",
  PROVISO_GATEWAY_PUBLIC_URL: "https://proviso.example",
};

test("people sign in where a provider, a client and the gateway's address are named, and secrets are files", () => {
  const folder = mkdtempSync(join(tmpdir(), "proviso-settings-"));
  const secret = join(folder, "secret");
  writeFileSync(secret, "s3cret\n");
  expect(readSettings(SIGN_IN)).toMatchObject({
    signIn: { clientId: "gateway", clientSecret: undefined },
    acting: undefined,
  });
  const read = readSettings({
    ...SIGN_IN,
    PROVISO_GATEWAY_OIDC_CLIENT_SECRET_FILE: secret,
    PROVISO_GATEWAY_OIDC_AUDIENCE: "proviso",
    PROVISO_GATEWAY_SERVICE_KEY_FILE: secret,
  });
  expect(read).toMatchObject({ signIn: { clientSecret: "s3cret" }, acting: { audience: "proviso", keyFile: secret } });
  writeFileSync(secret, "");
  expect(() => readSettings({ ...SIGN_IN, PROVISO_GATEWAY_OIDC_CLIENT_SECRET_FILE: secret })).toThrow(/is empty/);
  rmSync(folder, { recursive: true });
});

test("half of a sign-in, and one that could be listened to, is refused", () => {
  const faults: readonly [Record<string, string>, RegExp][] = [
    [{ PROVISO_GATEWAY_PUBLIC_URL: "" }, /OIDC_CLIENT_ID: needs PROVISO_GATEWAY_PUBLIC_URL too/],
    [{ PROVISO_GATEWAY_OIDC_ISSUER: "" }, /OIDC_CLIENT_ID: needs PROVISO_GATEWAY_OIDC_ISSUER too/],
    [{ PROVISO_GATEWAY_OIDC_CLIENT_ID: "" }, /PUBLIC_URL: needs PROVISO_GATEWAY_OIDC_CLIENT_ID too/],
    [{ PROVISO_GATEWAY_OIDC_AUDIENCE: "a" }, /OIDC_AUDIENCE: needs PROVISO_GATEWAY_SERVICE_KEY_FILE too/],
    [{ PROVISO_GATEWAY_OIDC_ISSUER: "http://login.example" }, /OIDC_ISSUER: must be an https address/],
    [{ PROVISO_GATEWAY_PUBLIC_URL: "http://proviso.example" }, /PUBLIC_URL: must be an https address/],
    [{ PROVISO_GATEWAY_PUBLIC_URL: "https://proviso.example/app" }, /PUBLIC_URL: must be an origin/],
    [{ PROVISO_GATEWAY_SERVICE_KEY_FILE: "/no/such/file" }, /SERVICE_KEY_FILE: the file .* cannot be read/],
    [
      { PROVISO_GATEWAY_TLS: "", PROVISO_GATEWAY_SERVICE: "service.example:443" },
      /TLS: tokens and keys are sent over TLS/,
    ],
  ];
  for (const [changes, words] of faults)
    expect(() => readSettings({ ...SIGN_IN, ...changes }), words.source).toThrow(words);
});
