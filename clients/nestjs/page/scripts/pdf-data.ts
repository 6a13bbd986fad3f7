import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

const PACKAGE = dirname(fileURLToPath(import.meta.resolve("pdfjs-dist/package.json")));
const { version } = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8")) as { version: string };

/** What pdf.js loads where a PDF needs it: fonts, maps of characters, and decoders of images that need no WebAssembly. */
const NEEDED = /^(cmaps|standard_fonts)\/|^wasm\/(.*_nowasm_fallback\.js|LICENSE_.*(JBIG2|OPENJPEG))$/;

/** Puts what pdf.js loads later into a folder of the build that has its version in its name. */
export function pdfData(): Plugin {
  return {
    name: "pdf-data",
    apply: "build",
    generateBundle() {
      for (const folder of ["cmaps", "standard_fonts", "wasm"]) {
        for (const name of readdirSync(join(PACKAGE, folder))) {
          const path = `${folder}/${name}`;
          if (!NEEDED.test(path)) continue;
          const source = readFileSync(join(PACKAGE, path));
          this.emitFile({ type: "asset", fileName: `assets/pdf-${version}/${path}`, source });
        }
      }
    },
  };
}
