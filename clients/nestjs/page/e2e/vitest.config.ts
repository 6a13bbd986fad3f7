import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["e2e/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Each file has a browser and a service of its own.
    maxWorkers: 2,
  },
});
