import { Controller, Get, Inject } from "@nestjs/common";
import { ApiTags } from "@nestjs/swagger";
import { Open } from "../access/identity.guard.js";
import { Refusal } from "../http/refusal.js";
import { Answers, Does } from "../openapi/decorators.js";
import { ServiceHealth } from "./service-health.js";

@Open()
@ApiTags("Health")
@Controller()
export class HealthController {
  constructor(@Inject(ServiceHealth) private readonly service: ServiceHealth) {}

  @Get("healthz")
  @Does("Says that the gateway runs.")
  @Answers("Health")
  alive(): { status: string } {
    return { status: "ok" };
  }

  @Get("readyz")
  @Does("Says whether the service is SERVING.")
  @Answers("Health")
  async ready(): Promise<{ status: string }> {
    if (await this.service.serving()) return { status: "ok" };
    throw new Refusal(503, "The service is not ready.");
  }
}
