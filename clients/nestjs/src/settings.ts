import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { fileURLToPath } from "node:url";
import { z } from "zod";

const PREFIX = "PROVISO_GATEWAY_";

/** The client's package takes a connection to the service for cut after so long a silence; what is held back is silent. */
const SILENCE_S = 45;

const seconds = (usual: number) => z.coerce.number().positive().max(86_400).default(usual);
const list = z.string().default("").transform(itemsOf);
const flag = z.enum(["true", "false"]).default("false").transform(isTrue);
const address = z.string().regex(/^\[?[\w.:-]+\]?:\d{1,5}$/, "must be a host and a port, as in localhost:50051");
/** An https address; on this machine, where nobody listens on the way, http too. */
const secureUrl = z.url().refine(isSecure, "must be an https address");
const pageFolder = fileURLToPath(new URL("../page/dist", import.meta.url));

/** The settings by the names of their environment variables, without PROVISO_GATEWAY_. */
const Variables = z.strictObject({
  HOST: z.string().min(1).default("127.0.0.1"),
  PORT: z.coerce.number().int().min(0).max(65_535).default(8080),
  SERVICE: address.default("localhost:50051"),
  TLS: flag,
  TLS_CA: z.string().optional().transform(certificatesIn),
  TLS_CERT: z.string().optional().transform(certificatesIn),
  TLS_KEY: z.string().optional().transform(fileIn),
  PUBLIC_URL: secureUrl.refine(isOrigin, "must be an origin, as in https://proviso.example").optional(),
  OIDC_ISSUER: secureUrl.optional(),
  OIDC_CLIENT_ID: z.string().optional(),
  OIDC_CLIENT_SECRET_FILE: z.string().optional().transform(fileIn),
  OIDC_SCOPE: z.string().default("openid profile offline_access"),
  OIDC_RESOURCE: z.string().optional(),
  OIDC_AUDIENCE: z.string().optional(),
  SERVICE_KEY_FILE: z.string().optional().transform(pathIn),
  DATA_DIR: z.string().min(1).default(".proviso/gateway"),
  DOCS: z.enum(["true", "false"]).default("true").transform(isTrue),
  PAGE_DIR: z.string().min(1).default(pageFolder),
  ALLOWED_ORIGINS: list.pipe(
    z.array(z.string().regex(/^https?:\/\/[^/]+$/, "must be origins, as in https://a.example")),
  ),
  ALLOWED_HOSTS: list,
  CALL_TIMEOUT_S: seconds(30),
  TOOL_TIMEOUT_S: seconds(120),
  UPLOAD_TIMEOUT_S: seconds(300),
  STALL_S: seconds(30).refine(isBelowSilence, `must be below ${SILENCE_S}`),
  KEEP_ALIVE_S: seconds(15),
  MAX_UPLOAD_MB: z.coerce.number().int().min(1).max(10_000).default(64),
  MAX_CONNECTIONS: z.coerce.number().int().min(1).default(1000),
});

type Variables = z.infer<typeof Variables>;

/** Of the first, the second is needed too. */
const TOGETHER: readonly (readonly [keyof Variables, keyof Variables])[] = [
  ["TLS_CERT", "TLS_KEY"],
  ["TLS_KEY", "TLS_CERT"],
  ["OIDC_CLIENT_ID", "OIDC_ISSUER"],
  ["OIDC_CLIENT_ID", "PUBLIC_URL"],
  ["OIDC_CLIENT_SECRET_FILE", "OIDC_CLIENT_ID"],
  ["OIDC_RESOURCE", "OIDC_CLIENT_ID"],
  ["PUBLIC_URL", "OIDC_CLIENT_ID"],
  ["SERVICE_KEY_FILE", "OIDC_ISSUER"],
  ["SERVICE_KEY_FILE", "OIDC_AUDIENCE"],
  ["OIDC_AUDIENCE", "SERVICE_KEY_FILE"],
];

const Environment = Variables.superRefine(checkTogether);

/** A client of a provider of OpenID Connect. */
export interface SignInSettings {
  issuer: URL;
  clientId: string;
  /** Absent for a public client. */
  clientSecret: string | undefined;
  scope: string;
  /** What access tokens are asked for (RFC 8707); for what the provider has for the client when absent. */
  resource: string | undefined;
  /** The origin that browsers know the gateway by. */
  publicUrl: URL;
}

/** Whose tokens the gateway takes for people's, and the key that it acts for them with. */
export interface ActingSettings {
  issuer: URL;
  audience: string;
  /** Path of the file that holds the key. */
  keyFile: string;
}

/** How the gateway runs. Times are in milliseconds. */
export interface Settings {
  /** Where it listens; port 0 takes a free one. */
  host: string;
  port: number;
  /** The service, host and port. */
  service: string;
  /** Whether the service is reached over TLS. */
  tls: boolean;
  /** Certificates (PEM) that vouch for the service, in place of the system's. */
  tlsCa: Buffer | undefined;
  /** What the gateway shows to a service that asks for client certificates (PEM). */
  clientCertificate: { certificate: Buffer; key: Buffer } | undefined;
  /** How people sign in on the page; they do not when absent. */
  signIn: SignInSettings | undefined;
  /** With what the gateway acts for people; what they show goes on to the service when absent. */
  acting: ActingSettings | undefined;
  /** Folder of the project metadata. */
  dataDir: string;
  /** Folder of the page's build; none is served where it does not exist. */
  pageDir: string;
  /** Whether Swagger UI is served at /docs. */
  docs: boolean;
  /** Origins of other sites whose pages may call the gateway. */
  allowedOrigins: readonly string[];
  /** Names under which it may be called, next to those of loopback. */
  allowedHosts: readonly string[];
  /** Time limits of unary calls, of calls that read documents, and of uploads. */
  callTimeoutMs: number;
  toolTimeoutMs: number;
  uploadTimeoutMs: number;
  /** A browser that takes nothing of its event stream for so long is detached. */
  stallMs: number;
  /** Silence after which an event stream has a comment. */
  keepAliveMs: number;
  /** Largest body of an upload. */
  maxUploadBytes: number;
  /** Connections at once; more are closed. */
  maxConnections: number;
}

/** Settings that cannot be used; the message names each variable and what is wrong with it. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
}

/** Reads PROVISO_GATEWAY_* variables; unknown ones are errors, so that a typing mistake is noticed. */
export function readSettings(environment: NodeJS.ProcessEnv): Settings {
  const ours = Object.entries(environment).filter(([name, value]) => name.startsWith(PREFIX) && value !== "");
  const result = Environment.safeParse(
    Object.fromEntries(ours.map(([name, value]) => [name.slice(PREFIX.length), value])),
  );
  if (!result.success) throw new SettingsError(result.error.issues.map(inWords).join("\n"));
  const read = result.data;
  return {
    host: read.HOST,
    port: read.PORT,
    service: read.SERVICE,
    tls: hasTls(read),
    tlsCa: read.TLS_CA,
    clientCertificate: read.TLS_CERT && read.TLS_KEY && { certificate: read.TLS_CERT, key: read.TLS_KEY },
    signIn: signInOf(read),
    acting: actingOf(read),
    dataDir: read.DATA_DIR,
    pageDir: read.PAGE_DIR,
    docs: read.DOCS,
    allowedOrigins: read.ALLOWED_ORIGINS,
    allowedHosts: read.ALLOWED_HOSTS,
    callTimeoutMs: read.CALL_TIMEOUT_S * 1000,
    toolTimeoutMs: read.TOOL_TIMEOUT_S * 1000,
    uploadTimeoutMs: read.UPLOAD_TIMEOUT_S * 1000,
    stallMs: read.STALL_S * 1000,
    keepAliveMs: read.KEEP_ALIVE_S * 1000,
    maxUploadBytes: read.MAX_UPLOAD_MB * 1024 * 1024,
    maxConnections: read.MAX_CONNECTIONS,
  };
}

function signInOf(read: Variables): SignInSettings | undefined {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, PUBLIC_URL: publicUrl } = read;
  if (issuer === undefined || clientId === undefined || publicUrl === undefined) return undefined;
  const clientSecret = read.OIDC_CLIENT_SECRET_FILE?.toString("utf8").trim();
  const { OIDC_SCOPE: scope, OIDC_RESOURCE: resource } = read;
  return { issuer: new URL(issuer), clientId, clientSecret, scope, resource, publicUrl: new URL(publicUrl) };
}

function actingOf(read: Variables): ActingSettings | undefined {
  const { OIDC_ISSUER: issuer, OIDC_AUDIENCE: audience, SERVICE_KEY_FILE: keyFile } = read;
  if (issuer === undefined || audience === undefined || keyFile === undefined) return undefined;
  return { issuer: new URL(issuer), audience, keyFile };
}

function hasTls({ TLS, TLS_CA, TLS_CERT }: Variables): boolean {
  return TLS || TLS_CA !== undefined || TLS_CERT !== undefined;
}

function checkTogether(read: Variables, context: z.RefinementCtx): void {
  for (const [one, other] of TOGETHER) {
    if (read[one] === undefined || read[other] !== undefined) continue;
    context.addIssue({ code: "custom", path: [one], message: `needs ${PREFIX}${other} too` });
  }
  const { TLS_CERT: cert, TLS_KEY: key } = read;
  if (cert && key && !isPair(cert, key))
    context.addIssue({ code: "custom", path: ["TLS_KEY"], message: "is not the key of the certificate" });
  const isSent = read.OIDC_CLIENT_ID !== undefined || read.SERVICE_KEY_FILE !== undefined;
  if (isSent && !hasTls(read) && !isLoopback(read.SERVICE.replace(/:\d+$/, "")))
    context.addIssue({ code: "custom", path: ["TLS"], message: "tokens and keys are sent over TLS only" });
}

function isPair(cert: Buffer, key: Buffer): boolean {
  try {
    createSecureContext({ cert, key });
    return true;
  } catch {
    return false;
  }
}

function isSecure(text: string): boolean {
  const { protocol, hostname } = new URL(text);
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
}

function isOrigin(text: string): boolean {
  return new URL(text).origin === text.replace(/\/$/, "");
}

/** Whether a host's name is one of loopback. */
export function isLoopback(host: string): boolean {
  return ["localhost", "[::1]", "::1"].includes(host) || /^127(\.\d{1,3}){3}$/.test(host);
}

function inWords(issue: z.core.$ZodIssue): string {
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => `${PREFIX}${key} is not a setting`).join("\n");
  return `${PREFIX}${String(issue.path[0])}: ${issue.message}`;
}

function itemsOf(text: string): string[] {
  return text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

function isBelowSilence(stall: number): boolean {
  return stall < SILENCE_S;
}

function isTrue(text: "true" | "false"): boolean {
  return text === "true";
}

function certificatesIn(path: string | undefined, context: z.RefinementCtx): Buffer | undefined {
  if (path === undefined) return undefined;
  const content = contentOf(path);
  if (content && hasCertificate(content)) return content;
  const fault = content ? "holds no certificate (PEM)" : "cannot be read";
  context.addIssue({ code: "custom", message: `the file ${path} ${fault}` });
  return z.NEVER;
}

function fileIn(path: string | undefined, context: z.RefinementCtx): Buffer | undefined {
  if (path === undefined) return undefined;
  const content = contentOf(path);
  if (content !== undefined && content.length > 0) return content;
  const fault = content ? "is empty" : "cannot be read";
  context.addIssue({ code: "custom", message: `the file ${path} ${fault}` });
  return z.NEVER;
}

function pathIn(path: string | undefined, context: z.RefinementCtx): string | undefined {
  return fileIn(path, context) && path;
}

function contentOf(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

/** Without this check a file of something else would be as good as an empty one: nobody would be vouched for. */
function hasCertificate(pem: Buffer): boolean {
  try {
    new X509Certificate(pem);
    return pem.includes("-----BEGIN"); // it reads DER too, which TLS does not
  } catch {
    return false;
  }
}
