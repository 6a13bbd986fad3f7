import { gzipSync } from "node:zlib";
import type { Plugin } from "vite";

/** What the page's build may take on its way to the browser, in bytes, each file gzipped. */
export const MOST_BYTES = 200_000;

/** Fails a build that is larger; `most` is in bytes. */
export function bundleLimit(most = MOST_BYTES): Plugin {
  return {
    name: "bundle-limit",
    apply: "build",
    generateBundle: {
      order: "post",
      handler(_options, bundle) {
        const files = Object.values(bundle).map((file) => (file.type === "chunk" ? file.code : file.source));
        const bytes = files.reduce((sum, file) => sum + gzipSync(file).byteLength, 0);
        if (bytes > most) this.error(`The page takes ${bytes} bytes gzipped, at most ${most} are allowed.`);
      },
    },
  };
}
