import "reflect-metadata";
import { NestFactory } from "@nestjs/core";
import type { NestExpressApplication } from "@nestjs/platform-express";
import type { LogLevel } from "@nestjs/common";
import { GatewayModule } from "./gateway.module.js";
import { ProblemFilter } from "./http/problem.filter.js";
import { servePage } from "./http/page.js";
import { hosts, origins, requestIds, securityHeaders } from "./http/protection.js";
import { validation } from "./http/validation.js";
import { serveOpenApi } from "./openapi/document.js";
import type { Settings } from "./settings.js";

const MAX_JSON_BYTES = 1024 * 1024;
const LOGGED: LogLevel[] = ["error", "warn"];

/** Makes the gateway and has it listen. Closing it ends the event streams and the channel to the service. */
export async function startGateway(settings: Settings, logged: LogLevel[] = LOGGED): Promise<NestExpressApplication> {
  const gateway = await NestFactory.create<NestExpressApplication>(GatewayModule.of(settings), {
    logger: logged,
    bodyParser: false,
    forceCloseConnections: true,
  });
  gateway.disable("x-powered-by");
  gateway.disable("etag");
  gateway.set("query parser", "simple");
  gateway.use(requestIds, securityHeaders, hosts(settings), origins(settings));
  gateway.useBodyParser("json", { limit: MAX_JSON_BYTES });
  gateway.useGlobalPipes(validation);
  gateway.useGlobalFilters(new ProblemFilter());
  servePage(gateway, settings.pageDir);
  serveOpenApi(gateway);
  gateway.getHttpServer().maxConnections = settings.maxConnections;
  await gateway.listen(settings.port, settings.host);
  return gateway;
}
