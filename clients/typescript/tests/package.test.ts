// The package as others get it: packed, in a project that knows nothing of the sources.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { publint } from "publint";
import { afterAll, beforeAll, expect, test } from "vitest";
import { packageRoot } from "../package-root.cjs";
import { grpcOptions, protoFiles } from "../src/index.js";
import { Consumer } from "./support/consumer.js";
import { WireServer, last } from "./support/wire-server.js";

const EXPORTS = [
  "CodePoints",
  "PACKAGE",
  "ProvisoError",
  "Tokens",
  "agentEvents",
  "channelOptions",
  "followTurn",
  "grpcOptions",
  "loaderOptions",
  "matterMetadata",
  "plain",
  "protoFiles",
  "protoRoot",
  "renewing",
  "tlsCredentials",
  "toDate",
  "toMilliseconds",
  "turnResult",
  "uploadRequests",
  "userMetadata",
  "utf16Range",
];

/** What the README's examples leave to the reader. */
const GIVEN = `
declare const assistant: Assistant;
declare const matterId: string;
declare const bytes: Uint8Array;
declare const grpc: ClientGrpc;
declare const chatService: Client<ChatServiceClient>;
declare function askThePerson(question: string, until: Date | undefined): Promise<boolean>;
`;
const readme = readFileSync(join(packageRoot, "README.md"), "utf8");
const examples = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, example]) => example);

const SUBPATHS = ["stubs/chat", "es/chat", "es/errors/details"].map((path) => `@proviso/client/${path}`);
const SUBPATH_IMPORTS = SUBPATHS.map((name, number) => `import * as p${number} from "${name}";`).join("\n");
const TYPES = `${SUBPATH_IMPORTS}
console.log(p0.Retryable, p1.ChatService, p2.ErrorInfoSchema);
`;

/** Right in the first line after the imports, and wrong in the three that follow: what has no type is never wrong. */
const CHECKED = `import { agentEvents } from "@proviso/client";
${SUBPATH_IMPORTS}
export const right: string = p0.CHAT_SERVICE_NAME + p1.ChatService.typeName + p2.ErrorInfoSchema.typeName;
export const wrong: number = agentEvents;
export const wrongStub: number = p0.CHAT_SERVICE_NAME;
export const wrongSchemas: [number, number] = [p1.ChatService.typeName, p2.ErrorInfoSchema.typeName];
`;
/** Ways in which a compiler looks for a package's types, each with the rest that it asks for. */
const RESOLUTIONS = {
  node10: ["--module", "commonjs", "--moduleResolution", "node10", "--ignoreDeprecations", "6.0"],
  node16: ["--module", "node16", "--moduleResolution", "node16"],
  bundler: ["--module", "esnext", "--moduleResolution", "bundler"],
};

/** Prints the package's names, where it keeps the proto files, what its subpaths have, and what NestJS it has loaded. */
const TOLD = `console.log(JSON.stringify({
  names: Object.keys(client).filter((name) => !["default", "module.exports", "__esModule"].includes(name)).sort(),
  protoRoot: client.protoRoot,
  subpaths: [stubs.CHAT_SERVICE_NAME, es.ChatService.typeName, details.ErrorInfoSchema.typeName],
  nest,
}));
`;
const NAMES = ["stubs", "es", "details"].map((name, number) => [name, SUBPATHS[number] ?? ""] as const);

let consumer: Consumer;
let server: WireServer;
let faults: string[];

beforeAll(async () => {
  consumer = new Consumer();
  consumer.write("examples.mts", GIVEN + examples.join("\n"));
  consumer.write("fault.mts", 'import { agentEvents } from "@proviso/client"; agentEvents(1);');
  consumer.write("types.cts", TYPES);
  consumer.write("checked.ts", CHECKED);
  const files = ["application.cts", "examples.mts", "fault.mts", "script.mts", "types.cts"];
  faults = await consumer.compile(files, "--module", "nodenext");
  server = await WireServer.start({
    chat: (call) => {
      last(call, { turnId: "turn", sequence: 1, finalState: { message: "Done 😀" } });
    },
  });
});

afterAll(() => {
  server.close();
  consumer.remove();
});

test("the package holds the builds, the proto files and the licence, and nothing of the tests", () => {
  const wanted = ["esm/index.d.ts", "cjs/index.d.ts", "cjs/package.json", "package-root.cjs", "README.md", "LICENSE"];
  expect(consumer.packed).toEqual(expect.arrayContaining([...wanted, ...protoFiles.map((file) => `protos/${file}`)]));
  expect(consumer.packed.filter((path) => /^(tests|src|scripts|bench|node_modules)\//.test(path))).toEqual([]);
});

test("the licence is the project's", () => {
  const [ours, projects] = ["LICENSE", "../../LICENSE"].map((file) => readFileSync(join(packageRoot, file), "utf8"));
  expect(ours).toBe(projects);
});

test("examples of the README, applications and subpaths compile against it, and a fault is found", () => {
  expect(examples.length).toBeGreaterThan(5);
  expect(faults.filter((fault) => !fault.startsWith("fault.mts"))).toEqual([]);
  expect(faults.join("\n")).toContain("TS2554");
});

test.each(Object.entries(RESOLUTIONS))("its types are found as %s looks for them", async (_, options) => {
  const found = await consumer.compile(["checked.ts"], "--noEmit", ...options);
  expect(found.map((fault) => /^checked.ts\((\d+),.*error (TS\d+)/.exec(fault)?.slice(1))).toEqual([
    ["6", "TS2322"],
    ["7", "TS2322"],
    ["8", "TS2322"],
    ["8", "TS2322"],
  ]);
});

test("publint finds no fault with it", async () => {
  const { messages } = await publint({ pkgDir: consumer.installed, pack: false, strict: true });
  expect(messages).toEqual([]);
});

test("it can be published", () => {
  const about = JSON.parse(readFileSync(join(consumer.installed, "package.json"), "utf8")) as Record<string, unknown>;
  expect(about.private).toBeUndefined();
  expect(about).toMatchObject({ license: "Apache-2.0", repository: { directory: "clients/typescript" } });
});

test("a NestJS application in CommonJS runs with it", async () => {
  const answer = await consumer.run("application.cjs", server.url);
  expect(answer).toMatchObject({ kind: "finalState", text: "Done 😀", finalState: { citations: [] } });
});

test("a script in ES modules runs with it", async () => {
  expect(await consumer.run("script.mjs", server.url)).toEqual(["Done 😀", 6, "google.rpc.ErrorInfo"]);
});

test("both builds give the same names and proto files, and who does not use NestJS does not load it", async () => {
  const imports = NAMES.map(([name, path]) => `import * as ${name} from "${path}";`);
  const requires = NAMES.map(([name, path]) => `const ${name} = require("${path}");`);
  const loaded = 'const nest = Object.keys(require.cache).filter((path) => path.includes("nestjs"));';
  const importing = ['import * as client from "@proviso/client";', ...imports, "const nest = [];", TOLD];
  const requiring = ['const client = require("@proviso/client");', loaded, ...requires, TOLD];
  consumer.write("told.mjs", importing.join("\n"));
  consumer.write("told.cjs", requiring.join("\n"));
  const [esm, cjs] = await Promise.all([consumer.run("told.mjs"), consumer.run("told.cjs")]);
  expect(esm).toEqual(cjs);
  expect(cjs).toMatchObject({
    names: EXPORTS,
    subpaths: ["ChatService", "proviso.v1.ChatService", "google.rpc.ErrorInfo"],
    nest: [],
  });
});

test("the loader is told where the proto files are", () => {
  const { protoPath, loader } = grpcOptions({ url: "localhost:50051" });
  for (const file of protoPath) expect(existsSync(join(loader.includeDirs[0] ?? "", file)), file).toBe(true);
});
