import type { TestProject } from "vitest/node";
import { Service } from "./service.js";

declare module "vitest" {
  interface ProvidedContext {
    /** The port of the service that all files of tests share. */
    port: number;
  }
}

/** Starting a service takes seconds, so the files of tests share one, except those that restart it or count in it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const service = new Service({ turns: { token_interval_s: 0 } });
  await service.start();
  project.provide("port", service.port);
  return () => service.remove();
}
