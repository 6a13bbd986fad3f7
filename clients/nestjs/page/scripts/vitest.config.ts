import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["scripts/*.script.ts"],
    testTimeout: 600_000,
    hookTimeout: 120_000,
    disableConsoleIntercept: true,
  },
});
