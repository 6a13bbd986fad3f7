import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["e2e/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // A browser and a service each take a core.
    maxWorkers: 1,
    fileParallelism: false,
  },
});
