import { startGateway } from "./gateway.js";
import { SettingsError, readSettings } from "./settings.js";

try {
  const gateway = await startGateway(readSettings(process.env));
  gateway.enableShutdownHooks();
  console.log(`Proviso's gateway listens on ${await gateway.getUrl()}`);
} catch (error) {
  if (error instanceof SettingsError) {
    console.error(error.message);
    process.exitCode = 2;
  } else if (isOfSystem(error)) {
    console.error(`The gateway cannot start: ${error.message}`);
    process.exitCode = 1;
  } else throw error;
}

/** A port in use, a folder that cannot be written to: what the settings name and the machine does not give. */
function isOfSystem(error: unknown): error is Error {
  return error instanceof Error && "syscall" in error;
}
