// Builds esm/ and cjs/, and lays the proto files and the licence beside them.
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
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
// Loaders of proto files have no use for the annotations, nor for the files of others that these need.
const ANNOTATIONS = /^import "(?:buf|google\/api)\/[^\n]*\n|(?<= = \d+) \[\s*\((?:buf|google\.api)\..*?\](?=;$)/gms;
mkdirSync("protos/proviso/v1", { recursive: true });
for (const name of readdirSync("../../protos/proviso/v1")) {
  const path = `proviso/v1/${name}`;
  writeFileSync(`protos/${path}`, readFileSync(`../../protos/${path}`, "utf8").replace(ANNOTATIONS, ""));
}
cpSync("../../LICENSE", "LICENSE");
