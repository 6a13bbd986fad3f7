import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { packageRoot } from "../package-root.cjs";
import { grpcOptions, protoFiles, protoRoot } from "../src/index.js";

/** What a script of that kind prints that imports the built package by its name. */
function printed(kind: "module" | "commonjs", script: string): unknown {
  const output = execFileSync(process.execPath, [`--input-type=${kind}`, "--eval", script], { cwd: packageRoot });
  return JSON.parse(output.toString());
}

const EXPORTS = [
  "CodePoints",
  "PACKAGE",
  "ProvisoError",
  "agentEvents",
  "channelOptions",
  "followTurn",
  "grpcOptions",
  "loaderOptions",
  "plain",
  "protoFiles",
  "protoRoot",
  "toDate",
  "toMilliseconds",
  "turnResult",
  "uploadRequests",
  "utf16Range",
];

test("both builds give the same names, and the folder of the proto files", () => {
  const esm = "import * as p from '@proviso/client'; console.log(JSON.stringify([Object.keys(p), p.protoRoot]))";
  const cjs = "const p = require('@proviso/client'); console.log(JSON.stringify([Object.keys(p), p.protoRoot]))";
  for (const [names, root] of [printed("module", esm), printed("commonjs", cjs)] as [string[], string][]) {
    expect([...names].sort()).toEqual(EXPORTS);
    expect(root).toBe(protoRoot);
  }
});

test("both builds have the stubs under their subpaths", () => {
  const names = ["stubs/chat", "es/chat", "es/errors/details"].map((path) => `@proviso/client/${path}`);
  const esm = `const all = await Promise.all(${JSON.stringify(names)}.map((name) => import(name)));
    console.log(JSON.stringify([all[0].CHAT_SERVICE_NAME, all[1].ChatService.typeName, all[2].ErrorInfoSchema.typeName]))`;
  const cjs = `const all = ${JSON.stringify(names)}.map((name) => require(name));
    console.log(JSON.stringify([all[0].CHAT_SERVICE_NAME, all[1].ChatService.typeName, all[2].ErrorInfoSchema.typeName]))`;
  for (const found of [printed("module", esm), printed("commonjs", cjs)]) {
    expect(found).toEqual(["ChatService", "proviso.v1.ChatService", "google.rpc.ErrorInfo"]);
  }
});

test("who does not use NestJS does not load it", () => {
  const cjs = "require('@proviso/client'); console.log(JSON.stringify(Object.keys(require.cache)))";
  expect((printed("commonjs", cjs) as string[]).filter((path) => path.includes("@nestjs"))).toEqual([]);
});

test("the package holds the builds and the proto files, and nothing of the tests", () => {
  const output = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: packageRoot });
  const [packed] = JSON.parse(output.toString()) as { files: { path: string }[] }[];
  const paths = packed?.files.map((file) => file.path) ?? [];
  const wanted = ["esm/index.d.ts", "cjs/index.d.ts", "cjs/package.json", "package-root.cjs", "README.md"];
  expect(paths).toEqual(expect.arrayContaining([...wanted, ...protoFiles.map((file) => `protos/${file}`)]));
  expect(paths.filter((path) => /^(tests|src|scripts|bench)\//.test(path))).toEqual([]);
});

test("the loader is told where the proto files are", () => {
  const { protoPath, loader } = grpcOptions({ url: "localhost:50051" });
  for (const file of protoPath) expect(existsSync(join(loader.includeDirs[0] ?? "", file)), file).toBe(true);
});
