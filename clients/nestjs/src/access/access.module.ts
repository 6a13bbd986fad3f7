import { Module } from "@nestjs/common";
import { AccessController } from "./access.controller.js";

/** Who calls. */
@Module({ controllers: [AccessController] })
export class AccessModule {}
