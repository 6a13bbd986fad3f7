import "reflect-metadata";
import { NestFactory } from "@nestjs/core";
import type { NestExpressApplication } from "@nestjs/platform-express";
import type { LogLevel } from "@nestjs/common";
import { GatewayModule } from "./gateway.module.js";
import { ProblemFilter } from "./http/problem.filter.js";
import { servePage } from "./http/page.js";
import { hosts, origins, requestIds, securityHeaders } from "./http/protection.js";
import { RunningRequests } from "./http/running-requests.js";
import { validation } from "./http/validation.js";
import { serveOpenApi } from "./openapi/document.js";
import type { Settings } from "./settings.js";

const MAX_JSON_BYTES = 1024 * 1024;
/** Room for the answer that an upload took too long. */
const ANSWER_MS = 5_000;
const LOGGED: LogLevel[] = ["error", "warn"];

/** Makes the gateway and has it listen. Closing it ends the event streams and the channel to the service. */
export async function startGateway(settings: Settings, logged: LogLevel[] = LOGGED): Promise<NestExpressApplication> {
  const gateway = await NestFactory.create<NestExpressApplication>(GatewayModule.of(settings), {
    logger: logged,
    bodyParser: false,
    forceCloseConnections: true,
    abortOnError: false,
  });
  gateway.disable("x-powered-by");
  gateway.disable("etag");
  gateway.set("query parser", "simple");
  const running = gateway.get(RunningRequests);
  gateway.use(requestIds, securityHeaders, running.count.bind(running), hosts(settings), origins(settings));
  gateway.useBodyParser("json", { limit: MAX_JSON_BYTES });
  gateway.useGlobalPipes(validation);
  gateway.useGlobalFilters(new ProblemFilter());
  servePage(gateway, settings.pageDir);
  serveOpenApi(gateway, settings.docs);
  const server = gateway.getHttpServer();
  server.maxConnections = settings.maxConnections;
  // An upload has its own time limit, which is the longest of a request's: Node's would cut it off without an answer.
  server.requestTimeout = settings.uploadTimeoutMs + ANSWER_MS;
  try {
    await gateway.listen(settings.port, settings.host);
  } catch (error) {
    await gateway.close();
    throw error;
  }
  return gateway;
}
