import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["tests/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Each file has a service of its own, which takes a core for a while when it starts.
    maxWorkers: 3,
    // Nest takes a second to load: once for each worker, not for each file.
    isolate: false,
  },
});
