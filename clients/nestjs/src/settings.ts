import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { z } from "zod";

const PREFIX = "PROVISO_GATEWAY_";

/** The client's package takes a connection to the service for cut after so long a silence; what is held back is silent. */
const SILENCE_S = 45;

const seconds = (usual: number) => z.coerce.number().positive().max(86_400).default(usual);
const list = z.string().default("").transform(itemsOf);
const flag = z.enum(["true", "false"]).default("false").transform(isTrue);
const address = z.string().regex(/^\[?[\w.:-]+\]?:\d{1,5}$/, "must be a host and a port, as in localhost:50051");
const pageFolder = fileURLToPath(new URL("../page/dist", import.meta.url));

/** The settings by the names of their environment variables, without PROVISO_GATEWAY_. */
const Environment = z.strictObject({
  HOST: z.string().min(1).default("127.0.0.1"),
  PORT: z.coerce.number().int().min(0).max(65_535).default(8080),
  SERVICE: address.default("localhost:50051"),
  TLS: flag,
  TLS_CA: z.string().optional().transform(certificatesIn),
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
    tls: read.TLS || read.TLS_CA !== undefined,
    tlsCa: read.TLS_CA,
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
