// @vitest-environment node
import { gzipSync } from "node:zlib";
import { resolve } from "node:path";
import { build } from "vite";
import type { Rolldown } from "vite";
import { describe, expect, it } from "vitest";
import { bundleLimit, LOADED_LATER, MOST_BYTES } from "../../scripts/bundle-limit.js";

const ROOT = resolve(import.meta.dirname, "../..");

/** The page's build with its own configuration, not written. */
async function built(...plugins: ReturnType<typeof bundleLimit>[]): Promise<Rolldown.RolldownOutput> {
  const output = await build({ root: ROOT, logLevel: "silent", build: { write: false }, plugins });
  return output as Rolldown.RolldownOutput;
}

describe("the page's build", () => {
  it("takes less than 200 KB gzipped, all files together but what draws PDFs", async () => {
    const { output } = await built();
    const first = output.filter((file) => !LOADED_LATER.test(file.fileName));
    expect(output.map((file) => file.fileName).filter((name) => name.startsWith("assets/pdf")).length).toBeGreaterThan(
      100,
    );
    expect(first.some((file) => file.fileName.includes("pdf"))).toBe(false);
    const sizes = first.map((file) => gzipSync(file.type === "chunk" ? file.code : file.source).byteLength);
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeLessThan(MOST_BYTES);
    expect(bytes).toBeGreaterThan(10_000);
  });

  it("fails where it is larger than it may be", async () => {
    await expect(built(bundleLimit(10_000))).rejects.toThrow(/takes \d+ bytes gzipped, at most 10000 are allowed/);
  });

  it("has the limit in its own configuration", async () => {
    const { default: config } = await import("../../vite.config.js");
    expect(config.plugins).toMatchObject([{ name: "pdf-data" }, { name: "bundle-limit" }]);
  });
});
