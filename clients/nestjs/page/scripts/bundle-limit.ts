import { gzipSync } from "node:zlib";
import type { Plugin } from "vite";

/** What the page's build may take on its way to the browser, in bytes, each file gzipped. */
export const MOST_BYTES = 200_000;

/** What draws PDFs: the browser loads it when a page of one is first shown, so it does not count. */
export const LOADED_LATER = /^assets\/pdf[-.]/;

/** Fails a build that is larger; `most` is in bytes. */
export function bundleLimit(most = MOST_BYTES): Plugin {
  return {
    name: "bundle-limit",
    apply: "build",
    generateBundle: {
      order: "post",
      handler(_options, bundle) {
        const first = Object.values(bundle).filter((file) => !LOADED_LATER.test(file.fileName));
        const files = first.map((file) => (file.type === "chunk" ? file.code : file.source));
        const bytes = files.reduce((sum, file) => sum + gzipSync(file).byteLength, 0);
        if (bytes > most) this.error(`The page takes ${bytes} bytes gzipped, at most ${most} are allowed.`);
      },
    },
  };
}
