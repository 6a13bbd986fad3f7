import { execFileSync, spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { packageRoot } from "../../package-root.cjs";

const PROJECT = resolve(packageRoot, "../..");
const PYTHON = process.env.PROVISO_PYTHON ?? join(PROJECT, ".venv/bin/python");
const PYTHONPATH = ["service", "clients/python", "."].map((folder) => join(PROJECT, folder)).join(":");
const MODELS = join(PROJECT, ".proviso/models");

/** Settings of the service, as a tree. */
export type Settings = Record<string, Record<string, boolean | number | string>>;

interface Told {
  port?: number;
  attached?: number;
  at_ms?: number;
}

/** The real service in a process of its own; its model plays the script of the message (see script.ts). */
export class Service {
  port = 0;
  private attached = 0;
  private attachedAtMs = 0;
  private process: ChildProcessByStdio<Writable, Readable, null> | undefined;
  private readonly listeners = new Set<(told: Told) => void>();
  private readonly folder = mkdtempSync(join(tmpdir(), "proviso-client-"));

  constructor(private readonly settings: Settings = {}) {}

  get url(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** Starts it on a free port; again on the same port and data. Returns when it is SERVING. */
  async start(): Promise<void> {
    const settings = {
      telemetry: { log_level: "error" },
      ...this.settings,
      server: { port: this.port, drain_s: 0.2, ...this.settings.server },
    };
    const started = spawn(
      PYTHON,
      ["-m", "tests.support.client_service", join(this.folder, "data"), MODELS, JSON.stringify(settings)],
      { cwd: PROJECT, env: { ...process.env, PYTHONPATH }, stdio: ["pipe", "pipe", "inherit"] },
    );
    this.process = started;
    this.attached = 0;
    createInterface({ input: started.stdout }).on("line", (line) => {
      if (line.startsWith("@ ")) this.hear(JSON.parse(line.slice(2)) as Told);
    });
    const ended = once(started, "exit").then(() => {
      throw new Error("the service has ended before it was SERVING");
    });
    await Promise.race([this.told(({ port }) => port !== undefined), ended]);
    ended.catch(() => undefined);
  }

  /** A new API key of the service. */
  key(name: string, ...roles: string[]): string {
    const options = roles.flatMap((role) => ["--role", role]);
    const command = ["-m", "proviso_service.cli", "keys", "create", name, "--tenant", "acme", ...options];
    const made = execFileSync(PYTHON, [...command, "--data-dir", join(this.folder, "data")], {
      cwd: this.folder,
      env: { ...process.env, PYTHONPATH },
      stdio: ["ignore", "pipe", "ignore"],
    });
    return made.toString().trim();
  }

  /** Waits until a reader is attached to a turn. */
  async read(): Promise<void> {
    if (this.attached === 0) await this.told(({ attached = 0 }) => attached > 0);
  }

  /** Waits until no reader is attached to any turn; returns since when, by the service's clock, in milliseconds. */
  async unread(): Promise<number> {
    if (this.attached > 0) await this.told(({ attached }) => attached === 0);
    return this.attachedAtMs;
  }

  /** Ends the process, as a restart of its machine or as a crash does. */
  async end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    if (this.process?.exitCode !== null || this.process.signalCode !== null) return;
    const ended = once(this.process, "exit");
    this.process.kill(signal);
    await ended;
  }

  /** Ends it and removes what it has kept. */
  async remove(): Promise<void> {
    await this.end("SIGTERM");
    rmSync(this.folder, { recursive: true });
  }

  /** Waits until the service tells what is waited for. */
  private async told(wanted: (told: Told) => boolean): Promise<void> {
    await new Promise<void>((resolve) => {
      const listener = (told: Told): void => {
        if (!wanted(told)) return;
        this.listeners.delete(listener);
        resolve();
      };
      this.listeners.add(listener);
    });
  }

  private hear(told: Told): void {
    this.port = told.port ?? this.port;
    this.attached = told.attached ?? this.attached;
    this.attachedAtMs = told.at_ms ?? this.attachedAtMs;
    for (const listener of [...this.listeners]) listener(told);
  }
}
