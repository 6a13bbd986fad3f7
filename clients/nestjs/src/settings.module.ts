import { Global, Module } from "@nestjs/common";
import type { DynamicModule } from "@nestjs/common";
import type { Settings } from "./settings.js";

/** The token of the settings. */
export const SETTINGS = Symbol("settings");

/** Gives every provider the settings that the gateway was made with. */
@Global()
@Module({})
export class SettingsModule {
  static of(settings: Settings): DynamicModule {
    return { module: SettingsModule, providers: [{ provide: SETTINGS, useValue: settings }], exports: [SETTINGS] };
  }
}
