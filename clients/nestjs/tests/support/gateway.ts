import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startGateway } from "../../src/gateway.js";
import { readSettings } from "../../src/settings.js";
import type { Settings } from "../../src/settings.js";

/** A gateway on a free port, with a data folder of its own. */
export interface TestGateway {
  url: string;
  dataDir: string;
  /** How many browsers are connected. */
  connections: () => Promise<number>;
  close: () => Promise<void>;
}

export async function gatewayOf(service: string, settings: Partial<Settings> = {}): Promise<TestGateway> {
  const dataDir = mkdtempSync(join(tmpdir(), "proviso-gateway-"));
  const usual = { ...readSettings({}), port: 0, service, dataDir, pageDir: join(dataDir, "no-page") };
  const gateway = await startGateway({ ...usual, ...settings }, []);
  const close = async (): Promise<void> => {
    await gateway.close();
    rmSync(dataDir, { recursive: true });
  };
  const server = gateway.getHttpServer();
  const connections = promisify(server.getConnections.bind(server));
  return { url: await gateway.getUrl(), dataDir, connections, close };
}
