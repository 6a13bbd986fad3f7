import { Inject, Injectable } from "@nestjs/common";
import { loadPackageDefinition } from "@grpc/grpc-js";
import type { Client, GrpcObject, ServiceClientConstructor, ServiceError } from "@grpc/grpc-js";
import { fromJSON } from "@grpc/proto-loader";
import { Contract, credentialsOf } from "../contract/contract.js";
import type { Settings } from "../settings.js";
import { SETTINGS } from "../settings.module.js";

const CHECK_TIMEOUT_MS = 3_000;

/** The part of grpc.health.v1 that is asked here. */
const MESSAGES = {
  Request: { fields: { service: { type: "string", id: 1 } } },
  Response: { fields: { status: { type: "Status", id: 1 } } },
  Status: { values: { UNKNOWN: 0, SERVING: 1, NOT_SERVING: 2, SERVICE_UNKNOWN: 3 } },
};
const SERVICE = { methods: { Check: { requestType: "Request", responseType: "Response" } } };
const V1 = { nested: { ...MESSAGES, Health: SERVICE } };
const HEALTH = { nested: { grpc: { nested: { health: { nested: { v1: V1 } } } } } } as Parameters<typeof fromJSON>[0];

interface HealthClient extends Client {
  check(
    request: object,
    options: { deadline: number },
    answer: (error: ServiceError | null, health?: { status: string }) => void,
  ): void;
}

/** Whether the service is SERVING. */
@Injectable()
export class ServiceHealth {
  private readonly client: HealthClient;

  constructor(@Inject(Contract) contract: Contract, @Inject(SETTINGS) settings: Settings) {
    const loaded = loadPackageDefinition(fromJSON(HEALTH, { enums: String, defaults: true }));
    const v1 = ((loaded.grpc as GrpcObject).health as GrpcObject).v1 as GrpcObject;
    const Health = v1.Health as ServiceClientConstructor;
    // Over the channel of the other calls: it is their way to the service that is checked.
    const channelOverride = contract.rawMatters.getChannel();
    this.client = new Health(settings.service, credentialsOf(settings), { channelOverride }) as unknown as HealthClient;
  }

  /** False too where it cannot be reached, or does not answer within 3 s. */
  async serving(): Promise<boolean> {
    return new Promise((resolve) => {
      this.client.check({}, { deadline: Date.now() + CHECK_TIMEOUT_MS }, (error, health) => {
        resolve(error === null && health?.status === "SERVING");
      });
    });
  }
}
