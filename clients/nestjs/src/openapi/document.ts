import type { INestApplication } from "@nestjs/common";
import { DocumentBuilder, SwaggerModule } from "@nestjs/swagger";
import type { OpenAPIObject } from "@nestjs/swagger";
import type { NextFunction, Request, Response } from "express";
import { contentPolicy } from "../http/protection.js";
import { contractSchemas } from "./contract-schemas.js";
import { OWN_SCHEMAS } from "./own-schemas.js";

const DOCS_POLICY = contentPolicy("style-src 'self' 'unsafe-inline'", "img-src 'self' data:");
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

/** Serves it at /openapi.json, and for people at /docs, where that is wanted. */
export function serveOpenApi(gateway: INestApplication, withPages: boolean): void {
  if (withPages) gateway.use("/docs", docsSecurity);
  SwaggerModule.setup("docs", gateway, openApiDocument(gateway), {
    ui: withPages,
    raw: ["json"],
    jsonDocumentUrl: "openapi.json",
    customSiteTitle: "Proviso gateway",
  });
}

/** Swagger UI sets styles of its own in its page, and has pictures within its style sheet. */
function docsSecurity(_request: Request, response: Response, next: NextFunction): void {
  response.set("Content-Security-Policy", DOCS_POLICY);
  next();
}

function schemasNamedIn(paths: object): string[] {
  const references = JSON.stringify(paths).matchAll(/"#\/components\/schemas\/(\w+)"/g);
  return [...new Set(Array.from(references, ([, name]) => name ?? ""))];
}
