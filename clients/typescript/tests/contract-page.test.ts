import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { INestApplicationContext } from "@nestjs/common";
import { firstValueFrom, lastValueFrom, toArray } from "rxjs";
import type { Observable } from "rxjs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { packageRoot } from "../package-root.cjs";
import type { Client, TurnEvent } from "../src/index.js";
import type { ChatServiceClient } from "../src/stubs/proviso/v1/chat.js";
import type { Document, MatterServiceClient } from "../src/stubs/proviso/v1/matters.js";
import { Assistant, nestApplication } from "./support/nest.js";
import { LISTING, script, tokens } from "./support/script.js";
import { wholeTurn } from "./support/sequences.js";
import { Service } from "./support/service.js";

/** The functions of docs/contract.md. */
interface Page {
  ask(chat: Client<ChatServiceClient>, message: string, matterId: string): Observable<string>;
  goOn(chat: Client<ChatServiceClient>, turnId: string, afterSequence: number): Observable<TurnEvent>;
  askOrAttach(chat: Client<ChatServiceClient>, message: string, sessionId: string): Observable<TurnEvent>;
  cancel(chat: Client<ChatServiceClient>, turnId: string): Promise<boolean>;
  explain(failed: unknown): string[];
  quoted(text: string, citation: { start: number; end: number }): string;
  upload(
    matters: Client<MatterServiceClient>,
    matterId: string,
    filename: string,
    content: Uint8Array,
    progress: (sent: number) => void,
  ): Promise<Document | undefined>;
}

const NAMES = ["ask", "goOn", "askOrAttach", "cancel", "explain", "quoted", "upload"];
const HELD = script({ tokens: ["Hi"], hold: true });

const service = new Service({ server: { max_turns_running: 2 } });
let page: Page;
let nest: INestApplicationContext;
let assistant: Assistant;
let matterId: string;

/** The TypeScript of the page as a module, compiled as strictly as the package itself, against the built package. */
async function compiled(): Promise<Page> {
  const text = readFileSync(resolve(packageRoot, "../../docs/contract.md"), "utf8");
  const blocks = [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, block]) => block);
  const places = { rootDir: ".", outDir: "." };
  const options = { extends: "../tsconfig.json", compilerOptions: places, include: ["page.mts"], exclude: [] };
  const folder = mkdtempSync(join(packageRoot, ".page-"));
  try {
    writeFileSync(join(folder, "page.mts"), `${blocks.join("\n")}\nexport { ${NAMES.join(", ")} };\n`);
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(options));
    const tsc = spawnSync(join(packageRoot, "node_modules/.bin/tsc"), ["--project", folder], { encoding: "utf8" });
    expect(tsc.stdout).toBe("");
    return (await import(pathToFileURL(join(folder, "page.mjs")).href)) as Page;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

beforeAll(async () => {
  [page] = await Promise.all([compiled(), service.start()]);
  nest = await nestApplication(service.url);
  assistant = nest.get(Assistant);
  matterId = await assistant.createMatter();
});

afterAll(async () => {
  await nest.close();
  await service.remove();
});

test("an answer grows to the final state's message, and its turn can be gone on with", async () => {
  const message = script(LISTING, { tokens: tokens(5) });
  const texts = await lastValueFrom(page.ask(assistant.chat, message, matterId).pipe(toArray()));
  expect(texts.at(-1)).toBe("t0 t1 t2 t3 t4 ");
  const first = await firstValueFrom(assistant.ask({ message: HELD, matterContext: { matterId } }));
  const rest = lastValueFrom(page.goOn(assistant.chat, first.turnId, 0).pipe(toArray()));
  expect(await page.cancel(assistant.chat, first.turnId)).toBe(true);
  expect(await page.cancel(assistant.chat, first.turnId)).toBe(false);
  expect(wholeTurn(await rest).finalState.exitReason).toBe("EXIT_REASON_CANCELLED");
});

test("who finds the session busy attaches to its turn", async () => {
  const running = await firstValueFrom(
    assistant.ask({ message: HELD, sessionId: "lease", matterContext: { matterId } }),
  );
  const attached = page.askOrAttach(assistant.chat, script({ tokens: ["Other"] }), "lease");
  expect((await firstValueFrom(attached)).turnId).toBe(running.turnId);
  await page.cancel(assistant.chat, running.turnId);
});

test("what an error says is read", async () => {
  const invalid = firstValueFrom(assistant.chat.invoke({ message: "x".repeat(32_001) }));
  const [reason, problem] = page.explain(await invalid.catch((error: unknown) => error));
  expect(reason).toBe("INVALID_REQUEST");
  expect(problem).toMatch(/^message: ./);
  const called = firstValueFrom(assistant.chat.getTurn({ turnId: "none" }));
  expect(page.explain(await called.catch((error: unknown) => error))).toEqual(["TURN_UNKNOWN"]);
});

test("a quote is cut out of a text", () => {
  expect(page.quoted("😀 契約 rent", { start: 2, end: 4 })).toBe("契約");
});

test("a document is uploaded with its progress", async () => {
  const content = Buffer.from(`# Lease\n\n${"The rent is USD 500. ".repeat(5_000)}`);
  const told: number[] = [];
  const document = await page.upload(assistant.matters, matterId, "lease.md", content, (sent) => told.push(sent));
  expect(document?.filename).toBe("lease.md");
  expect(told.at(-1)).toBe(content.length);
  expect(told.length).toBeGreaterThan(2);
});
