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
