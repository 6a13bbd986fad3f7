import { Module } from "@nestjs/common";
import { HealthController } from "./health.controller.js";
import { ServiceHealth } from "./service-health.js";

/** How the gateway and the service behind it do. */
@Module({ controllers: [HealthController], providers: [ServiceHealth] })
export class HealthModule {}
