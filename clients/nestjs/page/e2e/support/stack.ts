import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { AUDIENCE, SECRET, TestProvider } from "../../../tests/support/provider.js";
import { Child, PROJECT, PYTHON, freePort, pythonEnvironment } from "./processes.js";

const GATEWAY = resolve(import.meta.dirname, "../../../dist/main.js");
const MODELS = join(PROJECT, ".proviso/models");
const START_MS = 120_000;

/** The real service and the gateway before it. */
export class Stack {
  private constructor(
    readonly url: string,
    private gateway: Child,
    private service: Child,
    private readonly folder: string,
    /** Starts the service again on its port and data. */
    private readonly again: () => Promise<Child>,
  ) {}

  /** With a model that plays the script of the message. `settings` are those of the service, as a tree. */
  static async start(settings: Record<string, unknown> = {}): Promise<Stack> {
    const folder = mkdtempSync(join(tmpdir(), "proviso-page-"));
    const started = await scripted(folder, settings);
    const port = Number(started.found[1]);
    const gateway = await startGateway(port, join(folder, "gateway"));
    const again = async (): Promise<Child> => (await scripted(folder, { ...settings, server: { port } })).child;
    return new Stack(gateway.url, gateway.child, started.child, folder, again);
  }

  /** For people who sign in with a provider that is started, too; their access tokens last two seconds. */
  static async startWithSignIn(): Promise<{
    stack: Stack;
    provider: TestProvider;
    restartGateway: () => Promise<void>;
  }> {
    const folder = mkdtempSync(join(tmpdir(), "proviso-page-"));
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const provider = await TestProvider.start(url, "auditor");
    const secret = join(folder, "secret");
    writeFileSync(secret, SECRET);
    const service = await scripted(folder, { auth: provider.auth });
    const start = (): ReturnType<typeof startGateway> =>
      startGateway(Number(service.found[1]), join(folder, "gateway"), {
        PROVISO_GATEWAY_PORT: String(port),
        PROVISO_GATEWAY_PUBLIC_URL: url,
        PROVISO_GATEWAY_OIDC_ISSUER: provider.issuer,
        PROVISO_GATEWAY_OIDC_CLIENT_ID: "brief",
        PROVISO_GATEWAY_OIDC_CLIENT_SECRET_FILE: secret,
        PROVISO_GATEWAY_OIDC_SCOPE: "openid profile",
        PROVISO_GATEWAY_OIDC_RESOURCE: AUDIENCE,
      });
    const gone = (): Promise<Child> => Promise.reject(new Error("this service is not started again"));
    const stack = new Stack(url, (await start()).child, service.child, folder, gone);
    const restartGateway = async (): Promise<void> => {
      await stack.gateway.end();
      stack.gateway = (await start()).child;
    };
    return { stack, provider, restartGateway };
  }

  /** Kills the service and starts it again, as a crash and what watches over it do. */
  async crash(): Promise<void> {
    await this.service.end("SIGKILL");
    this.service = await this.again();
    await this.ready();
  }

  /** As it is run, with the embedded model and an agent's folder. */
  static async startAsRun(agentDir: string): Promise<Stack> {
    const folder = mkdtempSync(join(tmpdir(), "proviso-page-"));
    const port = await freePort();
    const begin = (): Child =>
      Child.begin(
        PYTHON,
        ["-m", "proviso_service.cli", "serve", "--port", String(port), "--llm", "local"].concat([
          "--data-dir",
          join(folder, "data"),
          "--models-dir",
          MODELS,
        ]),
        { env: pythonEnvironment({ PROVISO_AGENT_DIR: agentDir, PROVISO_TELEMETRY__LOG_LEVEL: "error" }) },
      );
    const gateway = await startGateway(port, join(folder, "gateway"));
    const stack = new Stack(gateway.url, gateway.child, begin(), folder, () => Promise.resolve(begin()));
    await stack.ready();
    return stack;
  }

  private async ready(): Promise<void> {
    const before = Date.now() + START_MS;
    while (Date.now() < before) {
      if ((await fetch(`${this.url}/readyz`)).ok) return;
      await pause(200);
    }
    throw new Error("the service has not become ready");
  }

  async stop(): Promise<void> {
    for (const child of [this.gateway, this.service]) await child.end();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Calls the gateway; throws where it refuses. */
  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const init: RequestInit = { method };
    if (body instanceof FormData) init.body = body;
    else if (body !== undefined) {
      init.body = JSON.stringify(body);
      init.headers = { "Content-Type": "application/json" };
    }
    const response = await fetch(this.url + path, init);
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (response.status === 204 ? undefined : await response.json()) as T;
  }

  /** A matter with documents that can be searched: file names and their texts, or bytes. */
  async matter(name: string, documents: Record<string, string | Buffer>): Promise<string> {
    const { matter } = await this.call<{ matter: { matter_id: string } }>("POST", "/matters", { name });
    for (const [filename, text] of Object.entries(documents)) {
      const form = new FormData();
      form.append("file", new Blob([typeof text === "string" ? text : new Uint8Array(text)]), filename);
      await this.call("POST", `/matters/${matter.matter_id}/documents`, form);
    }
    // The stream ends when all of them are ready.
    await (await fetch(`${this.url}/matters/${matter.matter_id}/documents/events`)).text();
    return matter.matter_id;
  }
}

/** The service with a model that plays the script of the message; its port is the first group of what is found. */
function scripted(folder: string, settings: Record<string, unknown>): ReturnType<typeof Child.start> {
  const chosen = JSON.stringify({ telemetry: { log_level: "error" }, ...settings });
  const args = ["-m", "tests.support.client_service", join(folder, "data"), MODELS, chosen];
  return Child.start(PYTHON, args, { env: pythonEnvironment(), until: /"port": (\d+)/ });
}

/** The gateway before a service on loopback. */
export async function startGateway(
  servicePort: number,
  dataDir: string,
  settings: Record<string, string> = {},
): Promise<{ url: string; child: Child }> {
  const { child, found } = await Child.start(process.execPath, [GATEWAY], {
    env: {
      ...process.env,
      PROVISO_GATEWAY_PORT: "0",
      PROVISO_GATEWAY_SERVICE: `127.0.0.1:${servicePort}`,
      PROVISO_GATEWAY_DATA_DIR: dataDir,
      ...settings,
    },
    until: /listens on (http\S+)/,
  });
  return { url: (found[1] ?? "").replace("[::1]", "127.0.0.1"), child };
}
