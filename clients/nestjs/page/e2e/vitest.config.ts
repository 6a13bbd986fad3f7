import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["e2e/**/*.test.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // However busy the machine is: a second, as is usual, is not enough.
    expect: { poll: { timeout: 30_000 } },
    // Each file has a browser and a service of its own, and waits for both now and then: more than two cores can do at once.
    maxWorkers: 3,
  },
});
