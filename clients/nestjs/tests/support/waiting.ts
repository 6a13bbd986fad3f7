/** How long a test waits for what must come, however busy the machine is. */
export const PATIENT = { timeout: 30_000 };
