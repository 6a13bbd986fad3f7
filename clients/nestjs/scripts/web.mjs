// Runs the service, the gateway and the page with the sample matter, until Ctrl-C: what `make web` starts.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, readdir } from "node:fs/promises";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { setTimeout as pause } from "node:timers/promises";

const PROJECT = fileURLToPath(new URL("../../../", import.meta.url));
const SAMPLES = new URL("../../../service/proviso_service/samples/northwind/", import.meta.url);
const MATTER = "Northwind Robotics";
const START_MS = 180_000;

const environment = process.env;
const servicePort = environment.PROVISO_SERVER__PORT ?? "50051";
const port = environment.PROVISO_GATEWAY_PORT ?? "8080";
const url = `http://localhost:${port}`;
const children = [];

/** Starts a program; when it ends, all end. */
function start(program, args, more = {}) {
  const child = spawn(program, args, {
    cwd: PROJECT,
    env: { ...environment, ...more },
    stdio: ["ignore", "inherit", "inherit"],
  });
  child.on("error", (error) => end(`${program}: ${error.message}`));
  child.on("exit", () => end(`${program} has ended`));
  children.push(child);
}

/** Throws where another program listens on a port: what is asked there later would be answered by that one. */
async function checkFree(port, variable) {
  const server = createServer().listen(Number(port), "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (error) {
    if (error.code !== "EADDRINUSE") throw error;
    throw new Error(
      `Port ${port} is in use, maybe by an earlier \`make web\`: end that, or choose another port by ${variable}.`,
      { cause: error },
    );
  }
  server.close();
  await once(server, "close");
}

let ending = false;

/** Ends what was started here; twice is once. */
function end(reason) {
  if (ending) return;
  ending = true;
  if (reason) console.error(reason);
  process.exitCode = reason ? 1 : 0;
  for (const child of children) child.kill("SIGTERM");
}

/** Waits until the service behind the gateway is SERVING. */
async function ready() {
  const before = Date.now() + START_MS;
  while (!ending && Date.now() < before) {
    const response = await fetch(`${url}/readyz`).catch(() => undefined);
    if (response?.ok) return;
    await pause(300);
  }
  throw new Error("the service has not become ready");
}

async function json(path, init) {
  const response = await fetch(`${url}${path}`, init);
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  return response.json();
}

/** Makes the sample matter and uploads its documents, where they are not there. */
async function sampleMatter() {
  const { matters } = await json(`/matters?name=${encodeURIComponent(MATTER)}`);
  const found = matters.find(({ name }) => name === MATTER);
  const body = JSON.stringify({ name: MATTER });
  const made =
    found ?? (await json("/matters", { method: "POST", headers: { "Content-Type": "application/json" }, body })).matter;
  for (const name of (await readdir(SAMPLES)).sort()) {
    const form = new FormData();
    form.append("file", new Blob([await readFile(new URL(name, SAMPLES))]), name);
    await json(`/matters/${made.matter_id}/documents`, { method: "POST", body: form });
  }
}

/** Starts the service and the gateway, with the sample matter in them. */
async function run() {
  await checkFree(servicePort, "PROVISO_SERVER__PORT");
  await checkFree(port, "PROVISO_GATEWAY_PORT");
  start(environment.PROVISO ?? ".venv/bin/proviso", ["serve", "--port", servicePort]);
  start(process.execPath, ["clients/nestjs/dist/main.js"], {
    PROVISO_GATEWAY_PORT: port,
    PROVISO_GATEWAY_SERVICE: environment.PROVISO_GATEWAY_SERVICE ?? `localhost:${servicePort}`,
  });
  await ready();
  await sampleMatter();
  console.log(`\nProviso is at ${url}\nCtrl-C ends it.\n`);
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => end());
try {
  await run();
} catch (error) {
  end(error.message);
}
