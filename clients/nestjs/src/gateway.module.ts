import { Module } from "@nestjs/common";
import type { DynamicModule } from "@nestjs/common";
import { AccessModule } from "./access/access.module.js";
import { CatalogModule } from "./catalog/catalog.module.js";
import { ChatModule } from "./chat/chat.module.js";
import { ContractModule } from "./contract/contract.module.js";
import { HealthModule } from "./health/health.module.js";
import { HttpModule } from "./http/http.module.js";
import { IqlModule } from "./iql/iql.module.js";
import { MattersModule } from "./matters/matters.module.js";
import { SessionsModule } from "./sessions/sessions.module.js";
import type { Settings } from "./settings.js";
import { SettingsModule } from "./settings.module.js";

const MODULES = [
  AccessModule,
  CatalogModule,
  ChatModule,
  ContractModule,
  HealthModule,
  HttpModule,
  IqlModule,
  MattersModule,
  SessionsModule,
];

/** The whole gateway. */
@Module({})
export class GatewayModule {
  static of(settings: Settings): DynamicModule {
    return { module: GatewayModule, imports: [SettingsModule.of(settings), ...MODULES] };
  }
}
