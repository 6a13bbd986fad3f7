import type { INestApplication } from "@nestjs/common";
import { DocumentBuilder, SwaggerModule } from "@nestjs/swagger";
import type { OpenAPIObject } from "@nestjs/swagger";
import { contractSchemas } from "./contract-schemas.js";
import { OWN_SCHEMAS } from "./own-schemas.js";

const PROBLEM = { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } };

/** The description of all routes. */
export function openApiDocument(gateway: INestApplication): OpenAPIObject {
  const head = new DocumentBuilder()
    .setTitle("Proviso gateway")
    .setDescription("HTTP and Server-Sent Events in front of Proviso's gRPC service.")
    .setVersion("0.1.0")
    .addBearerAuth()
    .addSecurityRequirements({ bearer: [] })
    .addSecurityRequirements({})
    .addGlobalResponse({ status: "default", description: "A problem.", content: PROBLEM })
    .build();
  const document = SwaggerModule.createDocument(gateway, head, {
    operationIdFactory: (controller, method) => `${controller.replace("Controller", "")}_${method}`,
  });
  const contract = contractSchemas(schemasNamedIn(document.paths).filter((name) => !(name in OWN_SCHEMAS)));
  document.components = { ...document.components, schemas: { ...contract, ...OWN_SCHEMAS } };
  return document;
}

/** Serves it at /openapi.json. */
export function serveOpenApi(gateway: INestApplication): void {
  SwaggerModule.setup("openapi", gateway, openApiDocument(gateway), {
    ui: false,
    raw: ["json"],
    jsonDocumentUrl: "openapi.json",
  });
}

function schemasNamedIn(paths: object): string[] {
  const references = JSON.stringify(paths).matchAll(/"#\/components\/schemas\/(\w+)"/g);
  return [...new Set(Array.from(references, ([, name]) => name ?? ""))];
}
