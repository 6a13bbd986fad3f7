import { defineConfig } from "vitest/config";

export default defineConfig({
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  test: {
    include: ["tests/**/*.test.{ts,tsx}"],
    environment: "happy-dom",
    maxWorkers: 2,
    // A browser's globals take longer to make than all tests take: once for each worker, not for each file.
    isolate: false,
  },
});
