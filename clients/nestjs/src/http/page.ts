import { existsSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { sep } from "node:path";
import type { NestExpressApplication } from "@nestjs/platform-express";

/** Vite's folder of files whose names change with their contents. */
const HASHED = `${sep}assets${sep}`;

/** Serves the page's build, where there is one. The page's own routes are behind a #, so it is all at /. */
export function servePage(gateway: NestExpressApplication, folder: string): void {
  if (!existsSync(folder)) return;
  gateway.useStaticAssets(folder, {
    setHeaders: (response: ServerResponse, path: string) => {
      const lasting = path.startsWith(folder) && path.slice(folder.length).startsWith(HASHED);
      response.setHeader("Cache-Control", lasting ? "public, max-age=31536000, immutable" : "no-cache");
    },
  });
}
