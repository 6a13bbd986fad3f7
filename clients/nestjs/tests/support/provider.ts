import { spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("provider.mjs", import.meta.url));

/** What access tokens of the provider are for. */
export const AUDIENCE = "urn:proviso";
export const SECRET = "secret-of-the-gateway";

/** A real provider of OpenID Connect in a process of its own: oidc-provider, which signs in whoever gives a name. */
export class TestProvider {
  /** The grants that it has made, or refused, in their order. */
  readonly grants: string[] = [];

  private constructor(
    private readonly process: ChildProcessByStdio<Writable, Readable, null>,
    readonly issuer: string,
  ) {}

  /** For a gateway at an origin; everybody has these roles, with blanks between. */
  static async start(publicUrl: string, roles = ""): Promise<TestProvider> {
    const started = spawn(process.execPath, [PROGRAM, publicUrl, roles], { stdio: ["pipe", "pipe", "ignore"] });
    const lines = createInterface({ input: started.stdout });
    const [first] = (await once(lines, "line")) as [string];
    const provider = new TestProvider(started, (JSON.parse(first.slice(2)) as { issuer: string }).issuer);
    lines.on("line", (line) => {
      if (line.startsWith("@ ")) provider.grants.push((JSON.parse(line.slice(2)) as { grant: string }).grant);
    });
    return provider;
  }

  /** How the service recognises its tokens. */
  get auth(): Record<"jwks" | "issuer" | "audience", string> {
    return { jwks: `${this.issuer}/jwks`, issuer: this.issuer, audience: AUDIENCE };
  }

  /** It does not know this person any more, and makes no new tokens for him. */
  forget(name: string): void {
    this.process.stdin.write(`${name}\n`);
  }

  async close(): Promise<void> {
    if (this.process.exitCode !== null) return;
    const ended = once(this.process, "exit");
    this.process.stdin.end();
    await ended;
  }
}
