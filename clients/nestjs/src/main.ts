import { startGateway } from "./gateway.js";
import { SettingsError, readSettings } from "./settings.js";

try {
  const gateway = await startGateway(readSettings(process.env));
  gateway.enableShutdownHooks();
  console.log(`Proviso's gateway listens on ${await gateway.getUrl()}`);
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
