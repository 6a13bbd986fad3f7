// Builds esm/ and cjs/, and lays the proto files and the licence beside them.
import { execFile } from "node:child_process";
import { cpSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

for (const folder of ["esm", "cjs", "protos"]) rmSync(folder, { recursive: true, force: true });
const compile = (...options) => promisify(execFile)("node_modules/.bin/tsc", options);
// The same sources: it is enough that one of the two checks their types.
await Promise.all([
  compile("--project", "tsconfig.esm.json"),
  compile("--project", "tsconfig.cjs.json", "--noCheck"),
]).catch((error) => {
  console.error(error.stdout ?? error);
  process.exit(1);
});
writeFileSync("cjs/package.json", '{ "type": "commonjs" }\n');
cpSync("../../protos/proviso", "protos/proviso", { recursive: true });
cpSync("../../LICENSE", "LICENSE");
