import { createSign, generateKeyPairSync } from "node:crypto";

/** A certificate and its key, as PEM. */
export interface Certificate {
  cert: Buffer;
  key: Buffer;
}

const SEQUENCE = 0x30;
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const UTF8_STRING = 0x0c;
const SET = 0x31;
const UTC_TIME = 0x17;
const BOOLEAN = 0x01;
const DAY_MS = 24 * 3_600_000;

const ECDSA_WITH_SHA256 = der(SEQUENCE, Buffer.from("06082a8648ce3d040302", "hex"));
const COMMON_NAME = Buffer.from("0603550403", "hex");
const ALT_NAMES = Buffer.from("0603551d11", "hex");
const BASIC_CONSTRAINTS = Buffer.from("0603551d13", "hex");

/** Makes a certificate for a host name that vouches for itself, for a day. */
export function selfSigned(host: string): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8_STRING, Buffer.from(host)))));
  const altNames = der(SEQUENCE, der(0x82, Buffer.from(host)));
  const isAuthority = der(SEQUENCE, der(BOOLEAN, Buffer.from([0xff])));
  const extensions = der(SEQUENCE, extension(ALT_NAMES, altNames), extension(BASIC_CONSTRAINTS, isAuthority));
  const contents = der(
    SEQUENCE,
    der(0xa0, der(INTEGER, Buffer.from([2]))), // version 3
    der(INTEGER, Buffer.from([1])),
    ECDSA_WITH_SHA256,
    name,
    der(SEQUENCE, time(Date.now() - DAY_MS), time(Date.now() + DAY_MS)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, extensions),
  );
  const signature = createSign("sha256").update(contents).sign(privateKey);
  const whole = der(SEQUENCE, contents, ECDSA_WITH_SHA256, der(BIT_STRING, Buffer.from([0]), signature));
  const lines = whole.toString("base64").replace(/.{64}(?!$)/g, "$&\n");
  return {
    cert: Buffer.from(`-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`),
    key: Buffer.from(privateKey.export({ type: "pkcs8", format: "pem" })),
  };
}

function extension(id: Buffer, value: Buffer): Buffer {
  return der(SEQUENCE, id, der(OCTET_STRING, value));
}

function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/[-:T]/g, "").slice(2, 14);
  return der(UTC_TIME, Buffer.from(`${digits}Z`));
}

/** A value as DER has it: its tag, its length, its contents. */
function der(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
