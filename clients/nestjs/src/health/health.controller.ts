import { Controller, Get, Inject } from "@nestjs/common";
import { Refusal } from "../http/refusal.js";
import { ServiceHealth } from "./service-health.js";

@Controller()
export class HealthController {
  constructor(@Inject(ServiceHealth) private readonly service: ServiceHealth) {}

  @Get("healthz")
  alive(): { status: string } {
    return { status: "ok" };
  }

  @Get("readyz")
  async ready(): Promise<{ status: string }> {
    if (await this.service.serving()) return { status: "ok" };
    throw new Refusal(503, "The service is not ready.");
  }
}
