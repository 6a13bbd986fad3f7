import { defineConfig } from "vite";
import { bundleLimit } from "./scripts/bundle-limit.js";
import { pdfData } from "./scripts/pdf-data.js";

const API = [
  "/chat",
  "/turns",
  "/sessions",
  "/matters",
  "/iql",
  "/catalog",
  "/account",
  "/caller",
  "/sign-in",
  "/sign-out",
];
const GATEWAY = process.env.PROVISO_GATEWAY ?? "http://127.0.0.1:8080";

export default defineConfig({
  base: "./",
  plugins: [pdfData(), bundleLimit()],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2022",
    // The page's content security policy allows neither inline scripts nor data URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { proxy: Object.fromEntries(API.map((path) => [path, GATEWAY])) },
});
