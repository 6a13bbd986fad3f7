import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { include: ["bench/**/*.bench.ts"], testTimeout: 300_000, hookTimeout: 120_000, disableConsoleIntercept: true },
});
