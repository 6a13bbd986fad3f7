import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["tests/**/*.test.ts"],
    globalSetup: "tests/support/shared-service.ts",
    // For machines that are busy: no test measures how fast things go by these.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    maxWorkers: 3,
    // Nest takes a second to load: once for each worker, not for each file.
    isolate: false,
  },
});
