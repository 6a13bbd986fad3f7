import { Module } from "@nestjs/common";
import { APP_GUARD } from "@nestjs/core";
import { AccessController } from "./access.controller.js";
import { BrowserSessions } from "./browser-sessions.js";
import { IdentityGuard } from "./identity.guard.js";
import { Provider } from "./provider.js";
import { SignInController } from "./sign-in.controller.js";

/** Who calls, and how people sign in. */
@Module({
  controllers: [AccessController, SignInController],
  providers: [BrowserSessions, Provider, { provide: APP_GUARD, useClass: IdentityGuard }],
})
export class AccessModule {}
