import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { createInterface } from "node:readline";

/** The project's folder; tests are run from the page's. */
export const PROJECT = resolve(import.meta.dirname, "../../../../..");

/** The interpreter that the service is installed for. */
export const PYTHON = process.env.PROVISO_PYTHON ?? `${PROJECT}/.venv/bin/python`;

/** The environment with the service's packages, without settings of whoever runs the tests. */
export function pythonEnvironment(settings: Record<string, string> = {}): NodeJS.ProcessEnv {
  const usual = Object.entries(process.env).filter(([name]) => !name.startsWith("PROVISO_"));
  const PYTHONPATH = ["service", "clients/python", "."].map((folder) => `${PROJECT}/${folder}`).join(":");
  return { ...Object.fromEntries(usual), PYTHONPATH, ...settings };
}

/** A process that is ended with its tests. */
export class Child {
  private constructor(private readonly process: ChildProcess) {}

  /** Starts it, and waits until a line of its output is what is waited for; answers with what was found in it. */
  static async start(
    command: string,
    args: string[],
    options: { env: NodeJS.ProcessEnv; cwd?: string; until: RegExp },
  ): Promise<{ child: Child; found: RegExpExecArray }> {
    const stdio: ["pipe", "pipe", "inherit"] = ["pipe", "pipe", "inherit"];
    const started = spawn(command, args, { env: options.env, cwd: options.cwd ?? PROJECT, stdio });
    const lines = createInterface({ input: started.stdout });
    const found = await new Promise<RegExpExecArray>((resolve, reject) => {
      lines.on("line", (line) => {
        const match = options.until.exec(line);
        if (match) resolve(match);
      });
      started.once("exit", (code) => {
        reject(new Error(`${command} has ended with ${String(code)}`));
      });
      started.once("error", reject);
    });
    return { child: new Child(started), found };
  }

  /** Starts it without waiting for anything. */
  static begin(command: string, args: string[], { env }: { env: NodeJS.ProcessEnv }): Child {
    return new Child(spawn(command, args, { env, cwd: PROJECT, stdio: ["ignore", "ignore", "inherit"] }));
  }

  async end(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = once(this.process, "exit");
    this.process.kill(signal);
    await ended;
  }
}

/** A port that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
