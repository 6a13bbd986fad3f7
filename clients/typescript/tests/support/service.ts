import { spawn } from "node:child_process";
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
export type Settings = Record<string, Record<string, number | string>>;

interface Told {
  port?: number;
  attached?: number;
}

/** The real service in a process of its own; its model plays the script of the message (see script.ts). */
export class Service {
  port = 0;
  private attached = 0;
  private process: ChildProcessByStdio<Writable, Readable, null> | undefined;
  private listeners = new Set<() => void>();
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
    let serving = (): void => undefined;
    const heard = new Promise<void>((resolve) => (serving = resolve));
    this.listeners.add(serving);
    await Promise.race([heard, ended]);
    this.listeners.delete(serving);
    ended.catch(() => undefined);
  }

  /** Waits until so many readers are attached to turns, as the service counts them. */
  async readers(count: number): Promise<void> {
    if (this.attached === count) return;
    await new Promise<void>((resolve) => {
      const check = (): void => {
        if (this.attached !== count) return;
        this.listeners.delete(check);
        resolve();
      };
      this.listeners.add(check);
    });
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

  private hear(told: Told): void {
    this.port = told.port ?? this.port;
    this.attached = told.attached ?? this.attached;
    for (const listener of [...this.listeners]) listener();
  }
}
