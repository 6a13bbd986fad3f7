import { execFile, execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { packageRoot } from "../../package-root.cjs";

const MODULES = join(packageRoot, "node_modules");
/** What a project has besides the package: its peers, what that needs, and what the project itself uses. */
const BESIDE = [
  "@bufbuild/protobuf",
  "@connectrpc/connect",
  "@connectrpc/connect-node",
  "@grpc/grpc-js",
  "@grpc/proto-loader",
  "@nestjs/common",
  "@nestjs/core",
  "@nestjs/microservices",
  "@types/node",
  "reflect-metadata",
  "rxjs",
];
const OPTIONS = [
  "--ignoreConfig",
  "--skipLibCheck",
  "--strict",
  "--target",
  "es2022",
  "--experimentalDecorators",
  "--types",
  "node",
];

/** A project of its own with the packed package in it, and no way from there to the sources. */
export class Consumer {
  private readonly folder = mkdtempSync(join(tmpdir(), "proviso-consumer-"));
  /** What the package holds, as paths. */
  readonly packed: readonly string[];
  /** The folder that the package is installed in. */
  readonly installed = join(this.folder, "node_modules/@proviso/client");

  constructor() {
    const packing = ["pack", "--json", "--ignore-scripts", "--loglevel", "error", "--pack-destination", this.folder];
    const output = execFileSync("npm", packing, { cwd: packageRoot, encoding: "utf8" });
    const [packed] = JSON.parse(output) as { filename: string; files: { path: string }[] }[];
    this.packed = packed?.files.map((file) => file.path) ?? [];
    mkdirSync(this.installed, { recursive: true });
    const tarball = join(this.folder, packed?.filename ?? "");
    execFileSync("tar", ["-xzf", tarball, "-C", this.installed, "--strip-components", "1"]);
    for (const name of BESIDE) {
      const link = join(this.folder, "node_modules", name);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(join(MODULES, name), link);
    }
    cpSync(join(packageRoot, "tests/consumer"), this.folder, { recursive: true });
  }

  write(file: string, content: string): void {
    writeFileSync(join(this.folder, file), content);
  }

  /** Compiles files, and returns what the compiler says, a line each. */
  async compile(files: readonly string[], ...options: string[]): Promise<string[]> {
    const tsc = join(MODULES, ".bin/tsc");
    const compiled = promisify(execFile)(tsc, [...OPTIONS, ...options, ...files], { cwd: this.folder });
    const { stdout } = await compiled.catch((error: unknown) => error as { stdout: string });
    return stdout.split("\n").filter((line) => line !== "");
  }

  /** What the file prints, as JSON. */
  async run(file: string, ...words: string[]): Promise<unknown> {
    const { stdout } = await promisify(execFile)(process.execPath, [file, ...words], { cwd: this.folder });
    return JSON.parse(stdout);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}
