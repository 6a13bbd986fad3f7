import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, readFile, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Refusal } from "../http/refusal.js";
import { ProjectMetadata } from "./store.js";
import type { ProjectMetadataStore, SessionKey } from "./store.js";

/** Bounds of what is kept. */
export interface StoreLimits {
  /** Of one session, as JSON. */
  maxBytes: number;
  /** Sessions that have any. */
  maxSessions: number;
}

const LIMITS: StoreLimits = { maxBytes: 256 * 1024, maxSessions: 10_000 };
const FINISHED = ".json";
const UNFINISHED = ".tmp";
/** Longer than any write takes, in milliseconds: a younger file may be one that another gateway is writing. */
const ABANDONED_MS = 10 * 60_000;

/** Keeps project metadata as files, one for each session, whose names tell nothing of the session. */
export class FileStore implements ProjectMetadataStore {
  constructor(
    private readonly folder: string,
    private readonly limits: StoreLimits = LIMITS,
  ) {}

  /** Makes the folder, and clears away what a crash may have left in the middle of a write. */
  async prepare(): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const unfinished = (await readdir(this.folder)).filter((name) => name.endsWith(UNFINISHED));
    await Promise.all(unfinished.map((name) => removeAbandoned(join(this.folder, name))));
  }

  async read(key: SessionKey): Promise<ProjectMetadata | undefined> {
    try {
      return ProjectMetadata.parse(JSON.parse(await readFile(this.path(key), "utf8")));
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  async write(key: SessionKey, metadata: ProjectMetadata): Promise<void> {
    const content = Buffer.from(JSON.stringify(metadata));
    if (content.length > this.limits.maxBytes) {
      throw new Refusal(
        413,
        `Project metadata can have at most ${this.limits.maxBytes} bytes; this has ${content.length}.`,
      );
    }
    await this.checkRoom(this.path(key));
    await writeWhole(this.path(key), content);
  }

  async remove(key: SessionKey): Promise<void> {
    await rm(this.path(key), { force: true });
  }

  private async checkRoom(path: string): Promise<void> {
    if ((await modified(path)) !== undefined) return;
    const kept = (await readdir(this.folder)).filter((name) => name.endsWith(FINISHED)).length;
    if (kept >= this.limits.maxSessions)
      throw new Refusal(429, "Project metadata is kept for too many sessions already.");
  }

  private path({ userId, sessionId, created }: SessionKey): string {
    const name = createHash("sha256")
      .update(JSON.stringify([userId, sessionId, created]))
      .digest("hex");
    return join(this.folder, name + FINISHED);
  }
}

/** The file has all of the content or what it had before, also when the machine stops in the middle. */
async function writeWhole(path: string, content: Buffer): Promise<void> {
  const unfinished = `${path}.${randomUUID()}${UNFINISHED}`;
  try {
    const file = await open(unfinished, "wx", 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

async function removeAbandoned(path: string): Promise<void> {
  const written = await modified(path);
  if (written !== undefined && Date.now() - written > ABANDONED_MS) await rm(path, { force: true });
}

/** When a file was written to, in milliseconds since 1970; undefined where there is none. */
async function modified(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
