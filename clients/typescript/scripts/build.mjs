// Builds esm/ and cjs/, and lays the proto files beside them.
import { execFileSync } from "node:child_process";
import { cpSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

for (const folder of ["esm", "cjs", "protos"]) rmSync(folder, { recursive: true, force: true });
for (const kind of ["esm", "cjs"]) {
  execFileSync("node_modules/.bin/tsc", ["--project", `tsconfig.${kind}.json`], { stdio: "inherit" });
}
writeFileSync("cjs/package.json", '{ "type": "commonjs" }\n');
cpSync("../../protos/proviso", "protos/proviso", { recursive: true });
