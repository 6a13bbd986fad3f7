import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { packageRoot } from "../package-root.cjs";

/** What the examples leave to the reader. */
const GIVEN = `
declare const assistant: Assistant;
declare const matterId: string;
declare const bytes: Uint8Array;
declare const grpc: ClientGrpc;
`;

const OPTIONS = [
  "--ignoreConfig",
  "--noEmit",
  "--strict",
  "--module",
  "NodeNext",
  "--target",
  "ES2022",
  "--experimentalDecorators",
];

/** What the compiler says of a file that imports the built package by its name. */
function faults(content: string, kind: "mts" | "cts" = "mts"): string {
  const folder = mkdtempSync(join(packageRoot, ".readme-"));
  try {
    const file = join(folder, `examples.${kind}`);
    writeFileSync(file, content);
    const tsc = join(packageRoot, "node_modules/.bin/tsc");
    execFileSync(tsc, [...OPTIONS, "--skipLibCheck", "--types", "node", file], { cwd: folder, encoding: "utf8" });
    return "";
  } catch (error) {
    return (error as { stdout: string }).stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("the examples of the README are sound", () => {
  const readme = readFileSync(join(packageRoot, "README.md"), "utf8");
  const examples = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, example]) => example);
  expect(examples.length).toBeGreaterThan(5);
  expect(faults(GIVEN + examples.join("\n"))).toBe("");
});

test("CommonJS finds the types of every subpath", () => {
  const names = ["@proviso/client", "stubs/chat", "es/chat", "es/errors/details"];
  const imports = names.map(
    (name, number) => `import * as p${number} from "${name.replace(/^(?!@)/, "@proviso/client/")}";`,
  );
  expect(
    faults(
      `${imports.join("\n")}\nconsole.log(p0.agentEvents, p1.Retryable, p2.ChatService, p3.ErrorInfoSchema);`,
      "cts",
    ),
  ).toBe("");
});

test("a fault in an example would be found", () => {
  expect(faults('import { agentEvents } from "@proviso/client"; agentEvents(1);')).toContain("TS2554");
});
